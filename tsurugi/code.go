package tsurugi

import "strconv"

// A Code is what kind of error the server tells of. Its String is the server's own name for it.
type Code int

// core is added to the codes of errors that the server tells before the SQL service has seen a request.
const core = 10_000

// Codes of the SQL service.
const (
	CodeSQLService                              Code = 1
	CodeSQLExecution                            Code = 2
	CodeConstraintViolation                     Code = 3
	CodeUniqueConstraintViolation               Code = 4
	CodeNotNullConstraintViolation              Code = 5
	CodeReferentialIntegrityConstraintViolation Code = 6
	CodeCheckConstraintViolation                Code = 7
	CodeEvaluation                              Code = 8
	CodeValueEvaluation                         Code = 9
	CodeScalarSubqueryEvaluation                Code = 10
	CodeTargetNotFound                          Code = 11
	CodeTargetAlreadyExists                     Code = 12
	CodeInconsistentStatement                   Code = 13
	CodeRestrictedOperation                     Code = 14
	CodeDependenciesViolation                   Code = 15
	CodeWriteOperationByRTX                     Code = 16
	CodeLTXWriteOperationWithoutWritePreserve   Code = 17
	CodeReadOperationOnRestrictedReadArea       Code = 18
	CodeInactiveTransaction                     Code = 19
	CodeParameter                               Code = 20
	CodeUnresolvedPlaceholder                   Code = 21
	CodeLoadFile                                Code = 22
	CodeLoadFileNotFound                        Code = 23
	CodeLoadFileFormat                          Code = 24
	CodeDumpFile                                Code = 25
	CodeDumpDirectoryInaccessible               Code = 26
	CodeSQLLimitReached                         Code = 27
	CodeTransactionExceededLimit                Code = 28
	CodeSQLRequestTimeout                       Code = 29
	CodeDataCorruption                          Code = 30
	CodeSecondaryIndexCorruption                Code = 31
	CodeRequestFailure                          Code = 32
	CodeTransactionNotFound                     Code = 33
	CodeStatementNotFound                       Code = 34
	CodeInternal                                Code = 35
	CodeUnsupportedRuntimeFeature               Code = 36
	CodeBlockedByHighPriorityTransaction        Code = 37
	CodeInvalidRuntimeValue                     Code = 38
	CodeValueOutOfRange                         Code = 39
	CodeValueTooLong                            Code = 40
	CodeInvalidDecimalValue                     Code = 41
	CodeCompile                                 Code = 101
	CodeSyntax                                  Code = 102
	CodeAnalyze                                 Code = 103
	CodeTypeAnalyze                             Code = 104
	CodeSymbolAnalyze                           Code = 105
	CodeValueAnalyze                            Code = 106
	CodeUnsupportedCompilerFeature              Code = 107
	CodeCC                                      Code = 201
	CodeOCC                                     Code = 202
	CodeOCCRead                                 Code = 203
	CodeConflictOnWritePreserve                 Code = 204
	CodeOCCWrite                                Code = 205
	CodeLTX                                     Code = 206
	CodeLTXRead                                 Code = 207
	CodeLTXWrite                                Code = 208
	CodeRTX                                     Code = 209
	CodeBlockedByConcurrentOperation            Code = 210
)

// Codes of the server before its services: sessions, credentials, resources.
const (
	CodeUnknown              Code = core + 0
	CodeSystemError          Code = core + 1
	CodeUnsupportedOperation Code = core + 2
	CodeIllegalState         Code = core + 6
	CodeAuthenticationError  Code = core + 11
	CodePermissionError      Code = core + 12
	CodeAccessExpired        Code = core + 13
	CodeRefreshExpired       Code = core + 14
	CodeBrokenCredential     Code = core + 15
	CodeIOError              Code = core + 21
	CodeOutOfMemory          Code = core + 22
	CodeResourceLimitReached Code = core + 23
	CodeSessionClosed        Code = core + 31
	CodeSessionExpired       Code = core + 32
	CodeServiceNotFound      Code = core + 33
	CodeServiceUnavailable   Code = core + 34
	CodeInvalidRequest       Code = core + 41
	CodeOperationCanceled    Code = core + 42
	CodeOperationDenied      Code = core + 43
)

// names are those of the protocol.
var names = map[Code]string{
	CodeSQLService:                              "SQL_SERVICE_EXCEPTION",
	CodeSQLExecution:                            "SQL_EXECUTION_EXCEPTION",
	CodeConstraintViolation:                     "CONSTRAINT_VIOLATION_EXCEPTION",
	CodeUniqueConstraintViolation:               "UNIQUE_CONSTRAINT_VIOLATION_EXCEPTION",
	CodeNotNullConstraintViolation:              "NOT_NULL_CONSTRAINT_VIOLATION_EXCEPTION",
	CodeReferentialIntegrityConstraintViolation: "REFERENTIAL_INTEGRITY_CONSTRAINT_VIOLATION_EXCEPTION",
	CodeCheckConstraintViolation:                "CHECK_CONSTRAINT_VIOLATION_EXCEPTION",
	CodeEvaluation:                              "EVALUATION_EXCEPTION",
	CodeValueEvaluation:                         "VALUE_EVALUATION_EXCEPTION",
	CodeScalarSubqueryEvaluation:                "SCALAR_SUBQUERY_EVALUATION_EXCEPTION",
	CodeTargetNotFound:                          "TARGET_NOT_FOUND_EXCEPTION",
	CodeTargetAlreadyExists:                     "TARGET_ALREADY_EXISTS_EXCEPTION",
	CodeInconsistentStatement:                   "INCONSISTENT_STATEMENT_EXCEPTION",
	CodeRestrictedOperation:                     "RESTRICTED_OPERATION_EXCEPTION",
	CodeDependenciesViolation:                   "DEPENDENCIES_VIOLATION_EXCEPTION",
	CodeWriteOperationByRTX:                     "WRITE_OPERATION_BY_RTX_EXCEPTION",
	CodeLTXWriteOperationWithoutWritePreserve:   "LTX_WRITE_OPERATION_WITHOUT_WRITE_PRESERVE_EXCEPTION",
	CodeReadOperationOnRestrictedReadArea:       "READ_OPERATION_ON_RESTRICTED_READ_AREA_EXCEPTION",
	CodeInactiveTransaction:                     "INACTIVE_TRANSACTION_EXCEPTION",
	CodeParameter:                               "PARAMETER_EXCEPTION",
	CodeUnresolvedPlaceholder:                   "UNRESOLVED_PLACEHOLDER_EXCEPTION",
	CodeLoadFile:                                "LOAD_FILE_EXCEPTION",
	CodeLoadFileNotFound:                        "LOAD_FILE_NOT_FOUND_EXCEPTION",
	CodeLoadFileFormat:                          "LOAD_FILE_FORMAT_EXCEPTION",
	CodeDumpFile:                                "DUMP_FILE_EXCEPTION",
	CodeDumpDirectoryInaccessible:               "DUMP_DIRECTORY_INACCESSIBLE_EXCEPTION",
	CodeSQLLimitReached:                         "SQL_LIMIT_REACHED_EXCEPTION",
	CodeTransactionExceededLimit:                "TRANSACTION_EXCEEDED_LIMIT_EXCEPTION",
	CodeSQLRequestTimeout:                       "SQL_REQUEST_TIMEOUT_EXCEPTION",
	CodeDataCorruption:                          "DATA_CORRUPTION_EXCEPTION",
	CodeSecondaryIndexCorruption:                "SECONDARY_INDEX_CORRUPTION_EXCEPTION",
	CodeRequestFailure:                          "REQUEST_FAILURE_EXCEPTION",
	CodeTransactionNotFound:                     "TRANSACTION_NOT_FOUND_EXCEPTION",
	CodeStatementNotFound:                       "STATEMENT_NOT_FOUND_EXCEPTION",
	CodeInternal:                                "INTERNAL_EXCEPTION",
	CodeUnsupportedRuntimeFeature:               "UNSUPPORTED_RUNTIME_FEATURE_EXCEPTION",
	CodeBlockedByHighPriorityTransaction:        "BLOCKED_BY_HIGH_PRIORITY_TRANSACTION_EXCEPTION",
	CodeInvalidRuntimeValue:                     "INVALID_RUNTIME_VALUE_EXCEPTION",
	CodeValueOutOfRange:                         "VALUE_OUT_OF_RANGE_EXCEPTION",
	CodeValueTooLong:                            "VALUE_TOO_LONG_EXCEPTION",
	CodeInvalidDecimalValue:                     "INVALID_DECIMAL_VALUE_EXCEPTION",
	CodeCompile:                                 "COMPILE_EXCEPTION",
	CodeSyntax:                                  "SYNTAX_EXCEPTION",
	CodeAnalyze:                                 "ANALYZE_EXCEPTION",
	CodeTypeAnalyze:                             "TYPE_ANALYZE_EXCEPTION",
	CodeSymbolAnalyze:                           "SYMBOL_ANALYZE_EXCEPTION",
	CodeValueAnalyze:                            "VALUE_ANALYZE_EXCEPTION",
	CodeUnsupportedCompilerFeature:              "UNSUPPORTED_COMPILER_FEATURE_EXCEPTION",
	CodeCC:                                      "CC_EXCEPTION",
	CodeOCC:                                     "OCC_EXCEPTION",
	CodeOCCRead:                                 "OCC_READ_EXCEPTION",
	CodeConflictOnWritePreserve:                 "CONFLICT_ON_WRITE_PRESERVE_EXCEPTION",
	CodeOCCWrite:                                "OCC_WRITE_EXCEPTION",
	CodeLTX:                                     "LTX_EXCEPTION",
	CodeLTXRead:                                 "LTX_READ_EXCEPTION",
	CodeLTXWrite:                                "LTX_WRITE_EXCEPTION",
	CodeRTX:                                     "RTX_EXCEPTION",
	CodeBlockedByConcurrentOperation:            "BLOCKED_BY_CONCURRENT_OPERATION_EXCEPTION",
	CodeUnknown:                                 "UNKNOWN",
	CodeSystemError:                             "SYSTEM_ERROR",
	CodeUnsupportedOperation:                    "UNSUPPORTED_OPERATION",
	CodeIllegalState:                            "ILLEGAL_STATE",
	CodeAuthenticationError:                     "AUTHENTICATION_ERROR",
	CodePermissionError:                         "PERMISSION_ERROR",
	CodeAccessExpired:                           "ACCESS_EXPIRED",
	CodeRefreshExpired:                          "REFRESH_EXPIRED",
	CodeBrokenCredential:                        "BROKEN_CREDENTIAL",
	CodeIOError:                                 "IO_ERROR",
	CodeOutOfMemory:                             "OUT_OF_MEMORY",
	CodeResourceLimitReached:                    "RESOURCE_LIMIT_REACHED",
	CodeSessionClosed:                           "SESSION_CLOSED",
	CodeSessionExpired:                          "SESSION_EXPIRED",
	CodeServiceNotFound:                         "SERVICE_NOT_FOUND",
	CodeServiceUnavailable:                      "SERVICE_UNAVAILABLE",
	CodeInvalidRequest:                          "INVALID_REQUEST",
	CodeOperationCanceled:                       "OPERATION_CANCELED",
	CodeOperationDenied:                         "OPERATION_DENIED",
}

// String is the server's name of the code, such as UNIQUE_CONSTRAINT_VIOLATION_EXCEPTION.
func (c Code) String() string {
	if name, ok := names[c]; ok {
		return name
	}
	return "code " + strconv.Itoa(int(c))
}

// Conflict tells whether the server ended the transaction for the sake of another one, so that the same work may
// succeed in a new transaction.
func (c Code) Conflict() bool {
	return c >= CodeCC && c <= CodeBlockedByConcurrentOperation || c == CodeBlockedByHighPriorityTransaction
}

// Constraint tells whether a row was refused because of its values: it will be refused again.
func (c Code) Constraint() bool {
	switch c {
	case CodeConstraintViolation, CodeUniqueConstraintViolation, CodeNotNullConstraintViolation,
		CodeReferentialIntegrityConstraintViolation, CodeCheckConstraintViolation,
		CodeEvaluation, CodeValueEvaluation, CodeInvalidRuntimeValue, CodeValueOutOfRange, CodeValueTooLong,
		CodeInvalidDecimalValue:
		return true
	default:
		return false
	}
}
