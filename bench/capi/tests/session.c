/* A short session through the C interface. Prints what went wrong and ends with 1, or is silent. */

#include "turnstile_book.h"

#include <stdio.h>
#include <string.h>

static int failures;

static void check(int right, const char *what, int line) {
    if (!right) {
        fprintf(stderr, "line %d: %s\n", line, what);
        failures++;
    }
}
#define CHECK(what) check((what), #what, __LINE__)

static void order(ts_book *book, uint64_t number, uint32_t side, uint64_t price, uint64_t quantity,
                  uint32_t immediate) {
    ts_order order = {number, price, quantity, side, immediate};
    ts_book_order(book, &order);
}

/* The reports that came next must be these, and no others. */
static void expect(ts_book *book, const ts_report *expected, size_t count, int line) {
    ts_report got[16];
    memset(got, 0, sizeof got);
    size_t found = ts_book_drain(book, got, 16);
    check(found == count, "number of reports", line);
    check(memcmp(got, expected, count * sizeof *expected) == 0, "reports", line);
    check(ts_book_drain(book, got, 16) == 0, "nothing left to drain", line);
}
#define EXPECT(book, ...)                                                          \
    do {                                                                           \
        const ts_report expected[] = {__VA_ARGS__};                                \
        expect((book), expected, sizeof expected / sizeof *expected, __LINE__);    \
    } while (0)

int main(void) {
    ts_book *book = ts_book_new(4); /* fewer orders than come: it grows */
    uint64_t price = 0;
    CHECK(ts_book_best(book, TS_SELL, &price) == 0);

    order(book, 1, TS_SELL, 101, 10, 0);
    order(book, 2, TS_SELL, 101, 5, 0);
    order(book, 1, TS_BUY, 90, 1, 0);
    EXPECT(book, {TS_ACCEPTED, 0, 1, 0, 101, 10}, {TS_ACCEPTED, 0, 2, 0, 101, 5},
           {TS_REFUSED, 0, 1, 0, 90, 1});
    CHECK(ts_book_best(book, TS_SELL, &price) == 1 && price == 101);
    CHECK(ts_book_depth(book, TS_SELL, 101) == 15);
    CHECK(ts_book_depth(book, TS_BUY, 101) == 0);

    /* Less keeps the place: order 1 still trades first. More loses it. */
    ts_book_modify(book, 1, 101, 8);
    order(book, 3, TS_BUY, 102, 9, 0);
    EXPECT(book, {TS_MODIFIED, 0, 1, 0, 101, 8}, {TS_ACCEPTED, 0, 3, 0, 102, 9},
           {TS_TRADED, 0, 3, 1, 101, 8}, {TS_TRADED, 4, 3, 2, 101, 1});
    order(book, 4, TS_SELL, 101, 1, 0);
    ts_book_modify(book, 2, 101, 5);
    order(book, 5, TS_BUY, 101, 2, 1);
    EXPECT(book, {TS_ACCEPTED, 0, 4, 0, 101, 1}, {TS_MODIFIED, 0, 2, 0, 101, 5},
           {TS_ACCEPTED, 0, 5, 0, 101, 2}, {TS_TRADED, 0, 5, 4, 101, 1},
           {TS_TRADED, 4, 5, 2, 101, 1});

    /* An immediate order leaves nothing; what is gone is neither cancelled nor modified. */
    order(book, 70, TS_BUY, 101, 6, 1);
    ts_book_cancel(book, 2);
    ts_book_modify(book, 1000000, 1, 1);
    EXPECT(book, {TS_ACCEPTED, 0, 70, 0, 101, 6}, {TS_TRADED, 0, 70, 2, 101, 4},
           {TS_CANCELLED, 0, 70, 0, 0, 2}, {TS_NOT_CANCELLED, 0, 2, 0, 0, 0},
           {TS_NOT_MODIFIED, 0, 1000000, 0, 1, 1});

    order(book, 6, TS_BUY, 7, 3, 0);
    ts_book_cancel(book, 6);
    EXPECT(book, {TS_ACCEPTED, 0, 6, 0, 7, 3}, {TS_CANCELLED, 0, 6, 0, 0, 3});
    CHECK(ts_book_best(book, TS_BUY, &price) == 0);
    ts_book_free(book);
    ts_book_free(NULL);
    return failures != 0;
}
