//! The bytes of what a coordinator and a desk say to each other.

use super::{fields, kinds};
use crate::{Body, Finding, Operation, Order, Parcel, Report, Request, Say, Vote};

fields!(Parcel {
    desk,
    life,
    peer_life,
    number,
    received,
    body
});

kinds!(Body {
    0x01 Request(request),
    0x02 Report(report),
});

fields!(Request { xid, order });
fields!(Report { xid, say });

kinds!(Order {
    0x01 Operate { first, operation },
    0x02 Prepare,
    0x03 Commit,
    0x04 CommitAlone,
    0x05 Abort,
    0x06 Forget,
    0x07 Finish { operation },
});

kinds!(Say {
    0x01 Found(finding),
    0x02 Waits { holder, before },
    0x03 Gone,
    0x04 Voted(vote),
    0x05 Ended { committed },
});

kinds!(Vote {
    0x01 Yes,
    0x02 ReadOnly,
    0x03 No,
});

kinds!(Operation {
    0x01 Add { item, count, price },
    0x02 Delete { item },
    0x03 Look { item },
    0x04 Take { items },
    0x05 GiveBack { items },
    0x11 AddCustomer { customer },
    0x12 RemoveCustomer { customer },
    0x13 LookCustomer { customer },
    0x14 Summarize { after },
    0x15 Note { customer, items },
    0x16 Strike { customer, since, items },
});

kinds!(Finding {
    0x01 Added,
    0x02 Deleted,
    0x03 Stock(stock),
    0x04 Taken(items),
    0x05 GivenBack,
    0x11 Customer(customer),
    0x12 Had(items),
    0x13 Bill(bill),
    0x14 Bills { bills, more },
    0x15 Noted { since },
    0x16 Struck,
    0x20 Refused(refusal),
});
