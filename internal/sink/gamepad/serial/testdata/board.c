// What a board has around the firmware of docs/adapter.md: file 3 is the serial line, and the standard output the
// console, which gets a line for each report that differs from the last one.
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { line = 3 };

static uint32_t millis(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint32_t)(t.tv_sec * 1000 + t.tv_nsec / 1000000);
}

// A table in place of a loop over bits: another way to the same checksum than that of the program under test.
static uint16_t crc16(const uint8_t *m, unsigned n) {
	uint16_t table[256], crc = 0xFFFF;
	for (int i = 0; i < 256; i++) {
		uint16_t r = (uint16_t)(i << 8);
		for (int k = 0; k < 8; k++) r = (uint16_t)(r & 0x8000 ? r << 1 ^ 0x1021 : r << 1);
		table[i] = r;
	}
	while (n--) crc = (uint16_t)(crc << 8 ^ table[(crc >> 8 ^ *m++) & 0xFF]);
	return crc;
}

static void send(uint8_t kind, const void *bytes, unsigned n) {
	uint8_t m[128] = {kind}, out[131];
	memcpy(m + 1, bytes, n++);
	uint16_t crc = crc16(m, n);
	m[n++] = (uint8_t)crc;
	m[n++] = (uint8_t)(crc >> 8);
	unsigned o = 1, code = 0;
	for (unsigned i = 0; i < n; i++) {
		if (m[i]) {
			out[o++] = m[i];
		} else {
			out[code] = (uint8_t)(o - code);
			code = o++;
		}
	}
	out[code] = (uint8_t)(o - code);
	out[o++] = 0;
	if (write(line, out, o) < 0) return; // dropped
}

static bool over;

static bool uart_readable(void) {
	struct pollfd p = {.fd = line, .events = POLLIN};
	return !over && poll(&p, 1, 1) > 0; // a millisecond between two questions of the console
}

static uint8_t uart_get(void) {
	uint8_t b = 0;
	over = over || read(line, &b, 1) != 1;
	return b;
}

static bool console_is_ready(void) { return true; }

static void put_report(const int8_t *now) {
	static int8_t was[36];
	if (!memcmp(was, now, sizeof was)) return;
	memcpy(was, now, sizeof was);
	const char *between = "";
	for (int i = 0; i < 36; i++) {
		if (!now[i]) continue;
		printf("%s%d=%d", between, i, now[i]);
		between = ",";
	}
	printf("\n");
	fflush(stdout);
}

#include "firmware.c"

int main(void) {
	while (!over) loop();
	return 0;
}
