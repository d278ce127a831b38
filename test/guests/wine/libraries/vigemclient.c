/*
 * A stand-in for ViGEmClient.dll, which makes virtual Xbox 360 pads: it writes down what it is asked, a line each, and answers as the environment says.
 *
 *   VIGEM_RECORD        the file that lines are appended to
 *   VIGEM_CONNECT=n     what vigem_connect answers, such as 0xE0000001, which says that there is no bus
 *   VIGEM_ADD=n         what vigem_target_add answers
 *   VIGEM_UNPLUG=n      the pad is unplugged after n reports
 *
 * A report has its seven fields: buttons in hexadecimal, triggers, the left stick, the right one.
 */
#define __USE_MINGW_ANSI_STDIO 1
#include <windows.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __declspec(dllexport)

typedef uint32_t answer;
enum { DONE = 0x20000000 };
static const answer unplugged = 0xE0000007;

typedef struct {
	uint16_t buttons;
	uint8_t left, right;
	int16_t lx, ly, rx, ry;
} report;

static struct { int n; } client, targets[4];
static int made;
static unsigned long reports;

static unsigned long setting(const char *name, unsigned long otherwise)
{
	char text[32];
	DWORD n = GetEnvironmentVariableA(name, text, sizeof text);
	return n > 0 && n < sizeof text ? strtoul(text, NULL, 0) : otherwise;
}

static void tell(const char *line, int length)
{
	char name[MAX_PATH];
	HANDLE file;
	DWORD n = GetEnvironmentVariableA("VIGEM_RECORD", name, sizeof name);

	if (n == 0 || n >= sizeof name)
		return;
	file = CreateFileA(name, FILE_APPEND_DATA, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
	if (file == INVALID_HANDLE_VALUE)
		return;
	WriteFile(file, line, length, &n, NULL);
	CloseHandle(file);
}

static void say(const char *call, const void *target)
{
	char line[64];
	int player = target ? (int)((const char *)target - (const char *)targets) / (int)sizeof targets[0] + 1 : 0;

	tell(line, snprintf(line, sizeof line, "%s %d\n", call, player));
}

EXPORT void *vigem_alloc(void) { return &client; }

EXPORT void vigem_free(void *c) { if (c == &client) say("free", NULL); }

EXPORT answer vigem_connect(void *c)
{
	return c == &client ? setting("VIGEM_CONNECT", DONE) : 0xE0000013;
}

EXPORT void vigem_disconnect(void *c) { if (c == &client) say("disconnect", NULL); }

EXPORT void *vigem_target_x360_alloc(void) { return &targets[made++]; }

EXPORT void vigem_target_free(void *target) { (void)target; }

EXPORT answer vigem_target_add(void *c, void *target)
{
	say("add", target);
	return c == &client ? setting("VIGEM_ADD", DONE) : 0xE0000013;
}

EXPORT answer vigem_target_remove(void *c, void *target)
{
	say("remove", target);
	return c == &client ? DONE : 0xE0000013;
}

/* The report comes as a value, as the library's header has it. */
EXPORT answer vigem_target_x360_update(void *c, void *target, report r)
{
	char line[96];
	int player = (int)((const char *)target - (const char *)targets) / (int)sizeof targets[0] + 1;

	if (c != &client || player < 1 || player > made)
		return 0xE0000015;
	if (reports++ >= setting("VIGEM_UNPLUG", ~0ul))
		return unplugged;
	tell(line, snprintf(line, sizeof line, "update %d %04x %d %d %d %d %d %d\n", player, r.buttons, r.left, r.right, r.lx, r.ly, r.rx, r.ry));
	return DONE;
}
