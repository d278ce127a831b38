/*
 * A stand-in for the vendor's gcdapi.dll, which drives a Titan One: it writes down what it is asked, and when, and tells a device that does as the environment says.
 *
 *   GCDAPI_RECORD         the file that a line is appended to for each call but gcapi_Read, which is only counted
 *   GCDAPI_BUSY=1         another program has the device: gcdapi_Load refuses
 *   GCDAPI_CONNECTED=0    no device is there
 *   GCDAPI_UNPLUG=n       the device goes away after n writes
 *   GCDAPI_REPLUG=n       and comes back after n refused ones
 *   GCDAPI_DELAY_US=n     reports tell what was written n microseconds after it was
 *   GCDAPI_MUTE=1         reports do not tell what was written
 *
 * A line has the time of the call in nanoseconds, of a clock that all processes have in common, the process, the call, and what it answered. gcapi_Write has its 36 values, too:
 *
 *   8123456789 32 gcapi_Write 1 0 0 0 100 …
 */
#define __USE_MINGW_ANSI_STDIO 1
#include <windows.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __declspec(dllexport)

enum { OUTPUTS = 36, INPUTS = 30, PAST = 256 };

/* What gcapi_Read fills in. */
typedef struct {
	uint8_t console, controller, led[4], rumble[2], battery_level;
	struct {
		int8_t value, prev_value;
		uint32_t press_tv;
	} input[INPUTS];
} report;

/* The states that were written, the newest at (wrote - 1) % PAST. The library is used by one thread. */
static struct {
	int64_t at;
	int8_t output[OUTPUTS];
} past[PAST];
static long wrote, refused, reads;

static long setting(const char *name, long otherwise)
{
	char text[32];
	DWORD n = GetEnvironmentVariableA(name, text, sizeof text);
	return n > 0 && n < sizeof text ? atol(text) : otherwise;
}

static int64_t now(void)
{
	LARGE_INTEGER count, second;
	QueryPerformanceCounter(&count);
	QueryPerformanceFrequency(&second);
	return count.QuadPart / second.QuadPart * 1000000000 + count.QuadPart % second.QuadPart * 1000000000 / second.QuadPart;
}

/* tell appends a line to the record. Several processes may do so at the same time. */
static void tell(int64_t at, const char *call, long answer, const int8_t *output)
{
	char name[MAX_PATH], line[512];
	HANDLE file;
	DWORD n;
	int i;

	n = GetEnvironmentVariableA("GCDAPI_RECORD", name, sizeof name);
	if (n == 0 || n >= sizeof name)
		return;
	n = snprintf(line, sizeof line, "%lld %lu %s %ld", (long long)at, GetCurrentProcessId(), call, answer);
	for (i = 0; output && i < OUTPUTS; i++)
		n += snprintf(line + n, sizeof line - n, " %d", output[i]);
	line[n++] = '\n';
	file = CreateFileA(name, FILE_APPEND_DATA, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
	if (file == INVALID_HANDLE_VALUE)
		return;
	WriteFile(file, line, n, &n, NULL);
	CloseHandle(file);
}

static int connected(void)
{
	long unplug = setting("GCDAPI_UNPLUG", -1), replug = setting("GCDAPI_REPLUG", -1);

	if (!setting("GCDAPI_CONNECTED", 1))
		return 0;
	return unplug < 0 || wrote < unplug || (replug >= 0 && refused >= replug);
}

EXPORT uint8_t __stdcall gcdapi_Load(void)
{
	int answer = !setting("GCDAPI_BUSY", 0);

	tell(now(), "gcdapi_Load", answer, NULL);
	return answer;
}

EXPORT void __stdcall gcdapi_Unload(void)
{
	tell(now(), "gcdapi_Unload", reads, NULL);
}

EXPORT uint8_t __stdcall gcapi_IsConnected(void)
{
	int answer = connected();

	tell(now(), "gcapi_IsConnected", answer, NULL);
	return answer;
}

/* 3.21: the first byte is the major part. */
EXPORT uint16_t __stdcall gcapi_GetFWVer(void)
{
	tell(now(), "gcapi_GetFWVer", 0x0315, NULL);
	return 0x0315;
}

EXPORT uint8_t __stdcall gcapi_Write(int8_t *output)
{
	int64_t at = now();
	int i, answer = connected();

	for (i = 0; i < OUTPUTS; i++)
		if (output[i] < -100 || output[i] > 100)
			answer = 0;
	if (answer) {
		past[wrote % PAST].at = at;
		memcpy(past[wrote % PAST].output, output, OUTPUTS);
		wrote++;
	} else {
		refused++;
	}
	tell(at, "gcapi_Write", answer, output);
	return answer;
}

/* gcapi_GetTimeVal counts milliseconds. */
EXPORT uint32_t __stdcall gcapi_GetTimeVal(void)
{
	return now() / 1000000;
}

EXPORT uint32_t __stdcall gcapi_CalcPressTime(uint32_t since)
{
	return gcapi_GetTimeVal() - since;
}

EXPORT uint8_t __stdcall gcapi_Read(report *to)
{
	int64_t seen = now() - (int64_t)setting("GCDAPI_DELAY_US", 0) * 1000;
	long i, w;

	if (!connected())
		return 0;
	reads++;
	memset(to, 0, sizeof *to);
	to->console = 3;       /* a PlayStation 4 */
	to->battery_level = 10;
	to->rumble[0] = reads; /* something that follows nothing */
	if (setting("GCDAPI_MUTE", 0))
		return 1;
	for (w = wrote - 1; w >= 0 && w > wrote - PAST && past[w % PAST].at > seen; w--)
		;
	if (w < 0 || w <= wrote - PAST)
		return 1;
	for (i = 0; i < INPUTS; i++) {
		to->input[i].value = past[w % PAST].output[i];
		to->input[i].press_tv = past[w % PAST].at / 1000000;
		if (w > 0 && w - 1 > wrote - PAST)
			to->input[i].prev_value = past[(w - 1) % PAST].output[i];
	}
	return 1;
}
