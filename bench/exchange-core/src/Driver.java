import com.sun.management.OperatingSystemMXBean;
import exchange.core2.core.ExchangeApi;
import exchange.core2.core.ExchangeCore;
import exchange.core2.core.common.CoreSymbolSpecification;
import exchange.core2.core.common.CoreWaitStrategy;
import exchange.core2.core.common.MatcherEventType;
import exchange.core2.core.common.MatcherTradeEvent;
import exchange.core2.core.common.OrderAction;
import exchange.core2.core.common.OrderType;
import exchange.core2.core.common.SymbolType;
import exchange.core2.core.common.api.ApiAddUser;
import exchange.core2.core.common.api.ApiAdjustUserBalance;
import exchange.core2.core.common.api.ApiCancelOrder;
import exchange.core2.core.common.api.ApiCommand;
import exchange.core2.core.common.api.ApiPlaceOrder;
import exchange.core2.core.common.api.binary.BatchAddSymbolsCommand;
import exchange.core2.core.common.cmd.CommandResultCode;
import exchange.core2.core.common.cmd.OrderCommand;
import exchange.core2.core.common.cmd.OrderCommandType;
import exchange.core2.core.common.config.ExchangeConfiguration;
import exchange.core2.core.common.config.InitialStateConfiguration;
import exchange.core2.core.common.config.PerformanceConfiguration;
import exchange.core2.core.common.config.SerializationConfiguration;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Drives exchange-core in process with a balanced flow of orders: one thread submits,
 * exchange-core's own threads decide, and each result is counted.
 *
 * <p>Of 16 requests of a connection 6 are orders that rest away from the touch, 6 cancel the oldest
 * such order, 2 rest at the touch and 2 cross the spread and fill one of these each. A connection
 * has about fifty orders on the books and speaks for two accounts.
 *
 * <p>Arguments: the wait strategy, how many requests may be under way, how many of them warm it up,
 * how many are measured. Prints the
 * measured requests a second, the CPU time of the whole process for each in microseconds, and how
 * many were refused.
 */
public final class Driver {
    private static final int CONNECTIONS = 50;
    private static final int SYMBOLS = 64;
    private static final VarHandle DECIDED = decided();
    private static final int TOUCH = 10_000;
    private static final int RESTING = 48;
    private static final long PLENTY = 1_000_000_000_000_000L;

    private final ExchangeCore core;
    private final ExchangeApi api;
    private final Connection[] connections = new Connection[CONNECTIONS];
    private final int window;
    private long orders;

    /** Written by the thread that delivers results alone, while requests are under way. */
    private volatile long decided;

    private long refused;

    /** Orders that traded at once. */
    private long matched;


    private Driver(CoreWaitStrategy strategy, int window) {
        this.window = window;
        PerformanceConfiguration performance = PerformanceConfiguration.throughputPerformanceBuilder()
                .matchingEnginesNum(1)
                .riskEnginesNum(1)
                .waitStrategy(strategy)
                .build();
        ExchangeConfiguration configuration = ExchangeConfiguration.defaultBuilder()
                .performanceCfg(performance)
                .initStateCfg(InitialStateConfiguration.cleanStart("BENCH"))
                .serializationCfg(SerializationConfiguration.DEFAULT)
                .build();
        core = ExchangeCore.builder()
                .exchangeConfiguration(configuration)
                .resultsConsumer((command, sequence) -> result(command))
                .build();
        core.startup();
        api = core.getApi();
    }

    public static void main(String[] arguments) throws Exception {
        int window = Integer.parseInt(arguments[1]);
        Driver driver = new Driver(CoreWaitStrategy.valueOf(arguments[0]), window);
        driver.prepare();
        driver.run(Integer.parseInt(arguments[2]));
        int requests = Integer.parseInt(arguments[3]);
        OperatingSystemMXBean system =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long cpu = system.getProcessCpuTime();
        long begin = System.nanoTime();
        driver.run(requests);
        double seconds = (System.nanoTime() - begin) / 1e9;
        double micros = (system.getProcessCpuTime() - cpu) / 1e3 / requests;
        System.out.printf("%.1f %.3f %d%n", requests / seconds, micros, driver.refused);
        System.exit(0);
    }

    /** Each symbol trades a currency of its own against currency 1. */
    private void prepare() throws Exception {
        List<CoreSymbolSpecification> symbols = new ArrayList<>();
        for (int symbol = 0; symbol < SYMBOLS; symbol++) {
            symbols.add(CoreSymbolSpecification.builder()
                    .symbolId(symbol)
                    .type(SymbolType.CURRENCY_EXCHANGE_PAIR)
                    .baseCurrency(100 + symbol)
                    .quoteCurrency(1)
                    .baseScaleK(1)
                    .quoteScaleK(1)
                    .takerFee(0)
                    .makerFee(0)
                    .build());
        }
        expect(api.submitBinaryDataAsync(new BatchAddSymbolsCommand(symbols)).get());
        long transaction = 1;
        for (int number = 0; number < CONNECTIONS; number++) {
            connections[number] = new Connection(number);
            for (long user : new long[] {2L * number + 1, 2L * number + 2}) {
                expect(api.submitCommandAsync(ApiAddUser.builder().uid(user).build()).get());
                for (int symbol = -1; symbol < SYMBOLS; symbol++) {
                    ApiCommand credit = ApiAdjustUserBalance.builder()
                            .uid(user)
                            .currency(symbol < 0 ? 1 : 100 + symbol)
                            .amount(PLENTY)
                            .transactionId(transaction++)
                            .build();
                    expect(api.submitCommandAsync(credit).get());
                }
            }
        }
    }

    private static VarHandle decided() {
        try {
            return MethodHandles.lookup().findVarHandle(Driver.class, "decided", long.class);
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static void expect(CommandResultCode code) {
        if (code != CommandResultCode.SUCCESS) {
            throw new IllegalStateException(code.toString());
        }
    }

    /** Submits so many requests, connection by connection in groups of 16, and awaits them all. */
    private void run(int requests) {
        decided = 0;
        refused = 0;
        matched = 0;
        for (int request = 0; request < requests; request++) {
            if (request % 16 == 0) {
                awaitResults(request + 16 - window);
            }
            api.submitCommand(connections[request / 16 % CONNECTIONS].next());
        }
        awaitResults(requests);
        // Two of sixteen cross; the last round may end before them.
        if (refused > 0 || Math.abs(8 * matched - requests) > 16 * CONNECTIONS) {
            throw new IllegalStateException(matched + " matched, " + refused + " refused");
        }
    }

    private void awaitResults(long count) {
        while (decided < count) {
            Thread.yield();
        }
    }

    private void result(OrderCommand command) {
        OrderCommandType type = command.command;
        if (type != OrderCommandType.PLACE_ORDER && type != OrderCommandType.CANCEL_ORDER) {
            return;
        }
        if (command.resultCode != CommandResultCode.SUCCESS) {
            refused++;
        }
        MatcherTradeEvent event = command.matcherEvent;
        if (event != null && event.eventType == MatcherEventType.TRADE) {
            matched++;
        }
        DECIDED.setOpaque(this, decided + 1);
    }

    /** One connection's part of the flow. */
    private final class Connection {
        private final long maker;
        private final long taker;
        private final SplittableRandom dice;
        private final ArrayDeque<long[]> resting = new ArrayDeque<>();
        private int place;
        private int touched;

        private Connection(int number) {
            maker = 2L * number + 1;
            taker = 2L * number + 2;
            dice = new SplittableRandom(number);
        }

        private ApiCommand next() {
            int part = place;
            place = (place + 1) % 16;
            switch (part) {
                case 4:
                case 10:
                    touched = dice.nextInt(SYMBOLS / 2) * 2 + (part == 10 ? 1 : 0);
                    return order(maker, touched, part == 4 ? OrderAction.ASK : OrderAction.BID, 10, TOUCH);
                case 5:
                    return order(taker, touched, OrderAction.BID, 10, TOUCH);
                case 11:
                    return order(taker, touched, OrderAction.ASK, 10, TOUCH);
                case 0:
                case 6:
                case 12:
                    return rest(OrderAction.BID);
                case 2:
                case 8:
                case 14:
                    return rest(OrderAction.ASK);
                default:
                    return resting.size() < RESTING ? rest(OrderAction.BID) : cancel();
            }
        }

        private ApiCommand rest(OrderAction side) {
            int away = 1 + dice.nextInt(100);
            int symbol = dice.nextInt(SYMBOLS);
            int price = side == OrderAction.BID ? TOUCH - away : TOUCH + away;
            ApiCommand order = order(maker, symbol, side, 1 + dice.nextInt(100), price);
            resting.add(new long[] {orders, symbol});
            return order;
        }

        private ApiCommand cancel() {
            long[] oldest = resting.remove();
            return ApiCancelOrder.builder()
                    .uid(maker)
                    .orderId(oldest[0])
                    .symbol((int) oldest[1])
                    .build();
        }

        private ApiCommand order(long user, int symbol, OrderAction side, long size, long price) {
            return ApiPlaceOrder.builder()
                    .uid(user)
                    .orderId(++orders)
                    .symbol(symbol)
                    .action(side)
                    .orderType(OrderType.GTC)
                    .size(size)
                    .price(price)
                    .reservePrice(price)
                    .build();
        }
    }
}
