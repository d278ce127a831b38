/*
 * A stand-in for bcryptprimitives.dll, which Wine 8 has not: programs of Go since 1.22 take their random numbers from its ProcessPrng, and do not start without.
 */
#include <windows.h>

BOOLEAN WINAPI SystemFunction036(PVOID to, ULONG bytes); /* RtlGenRandom */

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *to, SIZE_T bytes)
{
	return SystemFunction036(to, bytes);
}
