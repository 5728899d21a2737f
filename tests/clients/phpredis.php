<?php
// phpredis by its defaults: `phpredis.php PORT`; see `defaults.md`.

const ROOM = 'php';
const DONE = ['done', ROOM];
const SOLD_OUT = ['refused', 'sold_out'];

$port = (int) $argv[1];

function book(string $arrival, string $departure): array
{
    return ['ROOMS.BOOK', 'bench', ROOM, $arrival, $departure, 'ada', '234123412346'];
}

function equal($found, $expected): void
{
    if ($found !== $expected) {
        fwrite(STDERR, 'found    ' . json_encode($found) . "\nexpected " . json_encode($expected) . "\n");
        exit(1);
    }
}

/** What was decided. */
function verdict($reply): array
{
    return $reply[0] === 1 ? ['done', $reply[2]] : ['refused', $reply[1]];
}

function door(int $port): Redis
{
    $door = new Redis();
    $door->connect('127.0.0.1', $port);
    return $door;
}

$door = door($port);
equal($door->ping(), true);
$echoes = array_map('strval', range(0, 19));
$pipeline = $door->pipeline();
foreach ($echoes as $number) {
    $pipeline->echo($number);
}
equal($pipeline->exec(), $echoes);
// phpredis answers an error with false, and keeps its text.
equal($door->get('x'), false);
equal(str_contains($door->getLastError(), 'unknown command'), true);
$stay = book('2027-03-01', '2027-03-04');
equal(verdict($door->rawCommand(...$stay)), DONE);
equal(verdict($door->rawCommand(...$stay)), SOLD_OUT);
$batch = $door->multi();
$batch->rawCommand(...book('2027-04-01', '2027-04-02'));
$batch->rawCommand(...book('2027-04-01', '2027-04-02'));
equal(array_map('verdict', $batch->exec()), [DONE, SOLD_OUT]);

// `subscribe` never returns, so that the booking comes from a process that waits until it is heard.
$child = pcntl_fork();
if ($child === 0) {
    $other = door($port);
    do {
        $followed = $other->rawCommand('CLIENT', 'LIST', 'TYPE', 'pubsub');
    } while ($followed === '');
    $other->rawCommand(...book('2027-05-01', '2027-05-02'));
    exit(0);
}
$door->subscribe(['rooms.events'], function ($door, $channel, $message) {
    $event = json_decode($message, true);
    equal([$event['kind'], $event['room']], ['booked', ROOM]);
    echo "ok\n";
    // Otherwise `subscribe` would read on for its 60 s, whoever exits.
    $door->close();
    exit(0);
});
