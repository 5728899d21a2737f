/* hiredis by its defaults: `hiredis PORT`; see `defaults.md`. */

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM "hiredis"
#define ECHOES 20
#define BOOK(arrival, departure) \
    "ROOMS.BOOK bench " ROOM " " arrival " " departure " ada 234123412346"
#define STAY BOOK("2027-03-01", "2027-03-04")
#define IN_BATCH BOOK("2027-04-01", "2027-04-02")
#define HEARD BOOK("2027-05-01", "2027-05-02")

static void check(int holds, const char *rule) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", rule);
        exit(1);
    }
}

#define CHECK(rule) check(rule, #rule)

static redisContext *door(const char *port) {
    redisContext *context = redisConnect("127.0.0.1", atoi(port));
    check(context != NULL && context->err == 0, "it connects");
    return context;
}

static redisReply *ask(redisContext *context, const char *command) {
    redisReply *reply = redisCommand(context, command);
    check(reply != NULL, context->errstr);
    return reply;
}

/* Whether a booking was done, or else was refused as sold out. */
static int is_done(const redisReply *reply) {
    check(reply->type == REDIS_REPLY_ARRAY && reply->elements > 2, "a booking answers an array");
    if (reply->element[0]->integer == 1) {
        check(strcmp(reply->element[2]->str, ROOM) == 0, "the room is the one asked for");
        return 1;
    }
    check(strcmp(reply->element[1]->str, "sold_out") == 0, "the reason is sold_out");
    return 0;
}

static int books(redisContext *context, const char *command) {
    redisReply *reply = ask(context, command);
    int done = is_done(reply);
    freeReplyObject(reply);
    return done;
}

static void pings(redisContext *context) {
    redisReply *reply = ask(context, "PING");
    CHECK(strcmp(reply->str, "PONG") == 0);
    freeReplyObject(reply);
}

static void pipelines(redisContext *context) {
    for (int number = 0; number < ECHOES; number++)
        CHECK(redisAppendCommand(context, "ECHO %d", number) == REDIS_OK);
    for (int number = 0; number < ECHOES; number++) {
        redisReply *reply = NULL;
        CHECK(redisGetReply(context, (void **)&reply) == REDIS_OK);
        CHECK(atoi(reply->str) == number);
        freeReplyObject(reply);
    }
}

static void fails(redisContext *context) {
    redisReply *reply = ask(context, "GET x");
    CHECK(reply->type == REDIS_REPLY_ERROR);
    CHECK(strstr(reply->str, "unknown command") != NULL);
    freeReplyObject(reply);
    pings(context);
}

static void batches(redisContext *context) {
    freeReplyObject(ask(context, "MULTI"));
    freeReplyObject(ask(context, IN_BATCH));
    freeReplyObject(ask(context, IN_BATCH));
    redisReply *reply = ask(context, "EXEC");
    CHECK(reply->elements == 2);
    CHECK(is_done(reply->element[0]));
    CHECK(!is_done(reply->element[1]));
    freeReplyObject(reply);
}

static void hears(redisContext *context, const char *port) {
    redisContext *subscriber = door(port);
    freeReplyObject(ask(subscriber, "SUBSCRIBE rooms.events"));
    CHECK(books(context, HEARD));
    redisReply *message = NULL;
    CHECK(redisGetReply(subscriber, (void **)&message) == REDIS_OK);
    CHECK(strcmp(message->element[0]->str, "message") == 0);
    CHECK(strstr(message->element[2]->str, "\"kind\":\"booked\"") != NULL);
    CHECK(strstr(message->element[2]->str, "\"room\":\"" ROOM "\"") != NULL);
    freeReplyObject(message);
    redisFree(subscriber);
}

int main(int count, char **arguments) {
    check(count == 2, "hiredis PORT");
    redisContext *context = door(arguments[1]);
    pings(context);
    pipelines(context);
    fails(context);
    CHECK(books(context, STAY));
    CHECK(!books(context, STAY));
    batches(context);
    hears(context, arguments[1]);
    redisFree(context);
    puts("ok");
    return 0;
}
