/*
 * Go deletes a file in the way that Windows has since 2016, and in the older one when the system says that it does not know the way. Wine 8 says something else, "not implemented", at
 * which Go gives up: no test could remove its folder. This puts a function in between that says what Windows says. It is part of bcryptprimitives.dll, which programs of
 * Go load before all else.
 */
#include <windows.h>
#include <stdint.h>
#include <string.h>

typedef LONG(WINAPI *set_information)(HANDLE, PVOID, PVOID, ULONG, ULONG);

static const LONG not_implemented = 0xc0000002, invalid_info_class = 0xc0000003;
static set_information original;

static LONG WINAPI set_information_file(HANDLE file, PVOID status, PVOID information, ULONG bytes, ULONG class)
{
	LONG answer = original(file, status, information, bytes, class);

	return answer == not_implemented ? invalid_info_class : answer;
}

/* answer_for writes into the table of what ntdll exports, where Go looks the function up by its name. */
static BOOL answer_for(const char *name)
{
	uint8_t *base = (uint8_t *)GetModuleHandleA("ntdll.dll");
	IMAGE_NT_HEADERS *headers = (IMAGE_NT_HEADERS *)(base + ((IMAGE_DOS_HEADER *)base)->e_lfanew);
	IMAGE_EXPORT_DIRECTORY *table = (IMAGE_EXPORT_DIRECTORY *)(base + headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT].VirtualAddress);
	DWORD *names = (DWORD *)(base + table->AddressOfNames), *functions = (DWORD *)(base + table->AddressOfFunctions);
	WORD *numbers = (WORD *)(base + table->AddressOfNameOrdinals);
	DWORD i, before;

	for (i = 0; i < table->NumberOfNames; i++) {
		DWORD *function = functions + numbers[i];

		if (strcmp((char *)base + names[i], name))
			continue;
		original = (set_information)(uintptr_t)(base + *function);
		if (!VirtualProtect(function, sizeof *function, PAGE_READWRITE, &before))
			return FALSE;
		*function = (uint8_t *)(uintptr_t)set_information_file - base;
		return VirtualProtect(function, sizeof *function, before, &before);
	}
	return FALSE;
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, LPVOID reserved)
{
	(void)self, (void)reserved;
	return reason != DLL_PROCESS_ATTACH || answer_for("NtSetInformationFile");
}
