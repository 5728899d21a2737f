/* The order book of Turnstile for C: one symbol, price-time priority, the maker's price.
 *
 * Not thread-safe: one book belongs to one thread at a time. Link with libturnstile_capi. */

#ifndef TURNSTILE_BOOK_H
#define TURNSTILE_BOOK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ts_book ts_book;

enum { TS_BUY = 0, TS_SELL = 1 };

typedef struct {
    uint64_t order;     /* any number that no resting order has */
    uint64_t price;     /* ticks */
    uint64_t quantity;  /* at least 1 */
    uint32_t side;      /* TS_BUY or TS_SELL */
    uint32_t immediate; /* not 0: what does not trade at once is cancelled */
} ts_order;

enum {
    TS_ACCEPTED = 0,
    TS_TRADED = 1,        /* one for each trade, after the acceptance or modification */
    TS_CANCELLED = 2,     /* also what an immediate order leaves */
    TS_MODIFIED = 3,
    TS_NOT_CANCELLED = 4, /* the order does not rest */
    TS_NOT_MODIFIED = 5,  /* the order does not rest, or the quantity is 0 */
    TS_REFUSED = 6        /* quantity 0, or the number of an order that rests */
};

typedef struct {
    uint32_t kind;
    uint32_t maker_left; /* of a trade, capped */
    uint64_t order;      /* the order of the message */
    uint64_t maker;      /* the resting order of a trade */
    uint64_t price;      /* of a trade the maker's */
    uint64_t quantity;
} ts_report;

/* Room for so many orders at once at first; it grows. */
ts_book *ts_book_new(size_t resting);
void ts_book_free(ts_book *book);

void ts_book_order(ts_book *book, const ts_order *order);
void ts_book_cancel(ts_book *book, uint64_t order);
/* Less at the same price keeps the place in the queue; anything else loses it. */
void ts_book_modify(ts_book *book, uint64_t order, uint64_t price, uint64_t quantity);

/* Moves up to max reports to out, the oldest first; returns how many. */
size_t ts_book_drain(ts_book *book, ts_report *out, size_t max);

/* Returns 0 where the side is empty. */
int ts_book_best(const ts_book *book, uint32_t side, uint64_t *price);
/* The sum that rests at a price; 0 where there is none. */
uint64_t ts_book_depth(const ts_book *book, uint32_t side, uint64_t price);

#ifdef __cplusplus
}
#endif

#endif
