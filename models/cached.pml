/*
 * Cached modes: model of kind adaptive on several nodes (src/lock/cached/README has the argument, with the same
 * letters). Nodes cache a lock in mode N, S, I or X; the head of a queue of nodes recalls it.
 *
 * Words of a node. W: rd, ix, is, wr, handed, keeps, awaited (NODE: CPU atomics). MODE: mode, to,
 * ahead, back, asker, old (written by the head of the queue of nodes only; old: its number is of an
 * earlier recall). ACK: ack, and asks for what clients ahead put there (put by clients of a node
 * asked, reset by the head). NOTES: left. NEXT, STATUS: of the node's place; a grant has the
 * directory (gopen, gm, gset). TAIL of the home is 0 while the queue is empty, and has the
 * directory then: open, m, set; it stands in for MODE at node HOME, which has X at first. While a
 * node keeps the queue, its own word DIR has it: km, kset. nq: clients in the queue of the node;
 * lh: one of them is its head; the order of that queue is random here.
 *
 * What it proves. NP clients at NN nodes acquire exclusively or shared (-DWRITERS=set: these
 * exclusively, the others shared; READERS, INTENTS, INTENTS_SHARED likewise; AHEADS: ahead) any
 * number of times and may stop between two acquires: exclusion, no deadlock (awaits are blocking
 * guards), and at the end W is free, no promise is open, and a mode that a node has is in the
 * directory. -DUNCACHED: sharers of other nodes than the home's may count themselves in UNCACHED;
 * =2: as heads they do so wherever they may. DEBT has room for two. -DORDERED: the transport keeps
 * the order of their operations.
 * -DEXCLUDES, without TIMED: a sharer behind which exclusive clients are in the queue of its node
 * may acquire as they do (E).
 * -DTIMED: deadlines that pass in any wait. -DTORN: a network atomic on STATUS reads, and writes
 * later; CPU stores come in between. Exclusive clients have no deadline then, unless with LIVE or 3
 * nodes. -DPOSTED: acknowledgements, grants and the swap of TAIL by which a node
 * leaves (P1) take effect after the release has returned; NEXT is that of an even or odd turn.
 * -DTAKES: a sharer may keep the queue though no writer is next (S5), and one at another node may
 * take it over (T); NEXT as with POSTED.
 * -DLIVE=v: v gets the lock. -DMEET=n: when the writers have stopped, n sharers acquire once, and
 * each stays in until all of them are; or, with AHEADS, n intents at any time, of which the one
 * ahead comes when the others are in, which wait for it. All choices of policy (to lend or not, to
 * hand over in the node, to pass on, to give back, to cache) are random, unless -DLEND=0 (nothing
 * is given back), -DSTAY=0 (no hand-over within a node), -DUNVISITED (nobody waits for a visit to
 * end), -DSUMS=0 (a client looks before it counts itself, too). -DFIRST=0: no node has the lock at
 * first, and a node that leaves it keeps it, or nobody has it. -DVOTE=v: what the lock is at first
 * is decided to be v (1: the home's node has X, 2: nobody, 3: all nodes share), at any time or
 * never, and clients are told later.
 *
 * What it abstracts. Numbers of recalls have no bound: copies of an earlier one become `old`,
 * which is all that a client asks of them. A put and its flush are one step, as are a get and its
 * flush. Memory is sequentially consistent.
 *
 * Rows of ./check, known-broken variants among them:
 *
 * | SUMS=0 STAY=0 | safe 20M middle | pass | 2 nodes of one client; what is cached is in the directory, and no promise is left | 2 000 092 |
 * | LEND=0 STAY=0 | safe middle | pass | the same, without hand-over in a node, nothing lent | 1 231 611 |
 * | NP=3 WRITERS=3 SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | 2 clients and 1, of whom 2 write, neither | 23 799 663 |
 * | TIMED WRITERS=1 SUMS=0 STAY=0 LEND=0 | safe middle | pass | 2 nodes of one with deadlines, one writes | 1 162 926 |
 * | TIMED TORN WRITERS=3 SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | the same, both write, network atomics not atomic with stores | 4 762 622 |
 * | POSTED WRITERS=3 SUMS=0 STAY=0 LEND=0 | safe 20M long | pass | 2 nodes of one, releases posted, both write, nothing lent | 21 029 362 |
 * | NP=4 WRITERS=3 MEET=2 STAY=0 LEND=0 | safe | pass | 2 writers and 2 sharers at 2 nodes, each sharer stays in until the other is; all sharers are in together | 202 083 |
 * | NP=3 WRITERS=4 SUMS=0 LEND=0 | safe 20M middle | pass | 2 clients and 1, of whom one of the 2 writes, nothing lent | 3 625 466 |
 * | NP=3 WRITERS=4 SUMS=0 LEND=0 BREAK_SHOWN | safe | deadlock | a sharer that has left the queue of nodes with W does not look at MODE again | an acknowledgement is missing |
 * | EXCLUDES NP=3 WRITERS=6 SUMS=0 LEND=0 | safe 20M long | pass | 2 clients and 1, of whom the 1 and one of the 2 write; the other shares, or acquires as the writer behind it | 27 046 421 |
 * | EXCLUDES NP=3 WRITERS=4 SUMS=0 LEND=0 | safe 20M middle | pass | the same, one of the 2 writes | 7 207 808 |
 * | EXCLUDES NP=3 PLACE=0 WRITERS=3 SUMS=0 | safe | pass | 3 clients of a node, 2 write, one shares, or acquires as a writer behind it | 14 574 |
 * | EXCLUDES NP=4 WRITERS=3 PLACE=p/2 MEET=2 LEND=0 SUMS=0 | safe | pass | 2 writers at a node, 2 sharers at the other one, each of whom stays in until the other is | 1 153 |
 * | EXCLUDES NP=4 WRITERS=3 PLACE=p/2 MEET=2 LEND=0 SUMS=0 BREAK_MARK | bfs | deadlock | a sharer excludes others though no exclusive client is behind it | sharers wait for each other |
 * | NP=4 WRITERS=3 MEET=2 STAY=0 LEND=0 FIRST=0 | safe | pass | the same, at first no node has the lock | 128 309 |
 * | LIVE=0 SUMS=0 STAY=0 LEND=0 | live3 middle | pass | 2 nodes of one, nothing lent | 1 662 789 |
 * | NP=3 WRITERS=3 SUMS=0 LEND=0 | safe 20M middle | pass | 2 clients and 1, of whom 2 write, nothing lent, a client looks before it counts itself | 29 414 616 |
 * | | safe 20M middle | pass | 2 nodes of one | 2 457 120 |
 * | TIMED SUMS=0 STAY=0 | safe 20M middle | pass | 2 nodes of one, with deadlines | 27 524 225 |
 * | TIMED TORN SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | the same, network atomics not atomic with stores, nothing lent | 17 830 658 |
 * | POSTED WRITERS=3 SUMS=0 | safe 20M long | pass | 2 nodes of one, releases posted, both write | 40 492 266 |
 * | LIVE=0 TIMED SUMS=0 STAY=0 LEND=0 | live3 middle | pass | 2 nodes of one, nothing lent, with deadlines of the other one | 4 936 580 |
 * | NP=3 WRITERS=3 LEND=0 | safe 20M long | pass | 2 clients and 1, of whom 2 write, nothing lent | 44 543 990 |
 * | NP=3 WRITERS=7 SUMS=0 LEND=0 | safe 20M long | pass | 2 clients and 1, all write, nothing lent | 22 433 597 |
 * | NP=3 WRITERS=6 SUMS=0 | safe 20M long | pass | 2 clients and 1, of whom one of the 2 and the 1 write | 59 207 444 |
 * | NP=4 WRITERS=3 SUMS=0 STAY=0 LEND=0 | safe 20M long | pass | 2 nodes of 2, of whom 2 write, nothing lent | 14 to 98 million (model before its last changes) |
 * | POSTED SUMS=0 STAY=0 WRITERS=1 | safe 20M long | pass | 2 nodes of one, releases posted, one writes | 14 to 98 million (model before its last changes) |
 * | NN=3 WRITERS=7 SUMS=0 STAY=0 LEND=0 | safe 20M long | pass | 3 nodes of one, all write, nothing lent | 14 to 98 million (model before its last changes) |
 * | NN=3 WRITERS=1 SUMS=0 STAY=0 | safe 20M long | pass | 3 nodes of one, one writes | 14 to 98 million (model before its last changes) |
 * | VOTE=1 SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | 2 nodes of one, the vote is for the home's node | 4 300 694 |
 * | VOTE=2 SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | 2 nodes of one, the vote is for nobody | 4 333 011 |
 * | VOTE=3 SUMS=0 STAY=0 LEND=0 | safe middle | pass | 2 nodes of one, the vote is for all | 3 988 425 |
 * | VOTE=1 SUMS=0 STAY=0 LEND=0 BREAK_FIRST | bfs | assert | the vote is not looked at after the swap of TAIL | two holders |
 * | VOTE=3 SUMS=0 STAY=0 LEND=0 BREAK_DECIDED | bfs | assert | nodes that may have S by the vote are not recalled | two holders |
 * | VOTE=3 SUMS=0 STAY=0 LEND=0 BREAK_UNTOLD | bfs | assert | what is not decided is taken for nobody | two holders |
 * | SUMS=0 STAY=0 LEND=0 INTENTS=3 INTENTS_SHARED=3 | safe 20M middle | pass | 2 nodes of one, in all modes, nothing lent | 4 968 846 |
 * | SUMS=0 STAY=0 LEND=0 NP=3 WRITERS=0 READERS=3 INTENTS=6 | safe 20M middle | pass | 2 clients and 1, shared and with intents | 7 001 225 |
 * | SUMS=0 STAY=0 LEND=0 NP=3 WRITERS=1 INTENTS=6 AHEADS=4 MEET=2 | safe | pass | 2 nodes; a writer, an intent that stays in until one ahead is in | 194 153 |
 * | SUMS=0 STAY=0 LEND=0 NN=3 WRITERS=1 INTENTS=6 AHEADS=4 MEET=2 | safe middle | pass | the same, 3 nodes of one | 703 387 |
 * | SUMS=0 LEND=0 NP=3 PLACE=0 WRITERS=3 READERS=0 INTENTS=4 AHEADS=4 | safe | pass | 3 clients of a node, 2 write, one intends ahead of them: W is granted beside it | 8 539 |
 * | SUMS=0 LEND=0 NP=3 PLACE=0 WRITERS=1 READERS=2 INTENTS=4 AHEADS=4 | safe | pass | the same, one of the 2 shares | 8 042 |
 * | SUMS=0 STAY=0 LEND=0 NP=3 WRITERS=1 INTENTS=6 AHEADS=2 | safe 20M middle | pass | 2 clients and 1; a writer, an intent, one ahead | 7 838 871 |
 * | SUMS=0 STAY=0 LEND=0 TIMED NP=3 WRITERS=5 | safe 20M long | pass | 2 clients and 1, the 2 write, deadlines | |
 * | STAY=0 BREAK_ORDER | bfs | assert | MODE is looked at before the count in W | two holders |
 * | LIVE=0 TIMED SUMS=0 STAY=0 LEND=0 BREAK_HITS | live3 middle | cycle | a local head that was refused tries to hit again | |
 * | STAY=0 SUMS=0 BREAK_CLOSE | bfs | assert | W is looked at before MODE is closed | two holders |
 * | STAY=0 SUMS=0 BREAK_HOME | bfs | assert | W of the home's node is looked at before the swap of TAIL | two holders |
 * | STAY=0 BREAK_ONCE | bfs | assert | any acknowledgement ends a recall | two holders |
 * | STAY=0 BREAK_ARM | bfs | deadlock | ACK is reset after W was looked at | |
 * | STAY=0 BREAK_PAST | bfs | deadlock | the home's node takes each recall for one that has ended | an acknowledgement is missing |
 * | STAY=0 BREAK_DOWN | bfs | assert | a recall to S does not wait for an exclusive holder | two holders |
 * | NP=3 WRITERS=3 SUMS=0 STAY=0 LEND=0 FIRST=0 BREAK_OWN | bfs middle | assert | the own node is not recalled | two holders |
 * | NP=3 WRITERS=7 SUMS=0 STAY=0 LEND=0 BREAK_AGAIN | bfs middle | assert | no second look at W | two holders |
 * | STAY=0 BREAK_SILENT | bfs | deadlock | a count taken back (H3) does not acknowledge | |
 * | NP=3 WRITERS=7 SUMS=0 STAY=0 LEND=0 BREAK_NUMBER | bfs middle | assert | acknowledgements have no numbers | two holders |
 * | STAY=0 BREAK_LATE | bfs | deadlock | W becomes free without a look at MODE | |
 * | NP=3 WRITERS=7 SUMS=0 LEND=0 BREAK_EARLY | bfs | assert | W becomes free before the directory is in TAIL | two holders |
 * | STAY=0 BREAK_WRITER | bfs | deadlock | MODE is written after the queue is left | |
 * | NP=3 WRITERS=7 SUMS=0 LEND=0 BREAK_AWAITED | bfs middle | deadlock | W is handed over though the head has ceased to wait | nobody takes it |
 * | TIMED NP=3 WRITERS=7 SUMS=0 LEND=0 FIRST=0 BREAK_NOBODY | bfs | assert | W is handed over without a second look whether a client is there | the queue has no head |
 * | NP=4 PLACE=p==1 WRITERS=11 SUMS=0 LEND=0 FIRST=0 BREAK_TURNED | bfs middle | deadlock | W is turned before the queue is left | a link is lost |
 * | NP=3 WRITERS=7 SUMS=0 LEND=0 BREAK_GRANT | bfs | assert | W becomes free although it is granted with the queue | two holders |
 * | STAY=0 BREAK_JOIN | bfs | assert | the node's bit is not in the directory | it is not recalled |
 * | STAY=0 BREAK_OWNS | bfs | assert | a sharer at home owns the lock though others share it | two holders |
 * | NP=4 WRITERS=3 MEET=2 STAY=0 LEND=0 FIRST=0 BREAK_SHARERS | bfs | deadlock | sharers keep the queue though no writer is next | sharers wait for each other |
 * | NP=4 WRITERS=3 LEND=0 UNVISITED BREAK_FINISH | bfs middle | deadlock | a count taken back (H3) does not leave the queue for sharers | |
 * | STAY=0 BREAK_LEND | safe | deadlock | what was lent is not told to the next head | |
 * | TIMED STAY=0 SUMS=0 BREAK_TAIL | safe | assert | an abandoned place that is last is removed without the directory | two holders |
 * | TIMED STAY=0 SUMS=0 BREAK_LAST | safe | assert | the same, and what was lent is not given back | at the end a node still has what it lent |
 * | TIMED NN=3 STAY=0 SUMS=0 LEND=0 BREAK_PLACE | bfs middle | deadlock | PASSED before NEXT is read | |
 * | TIMED TORN STAY=0 SUMS=0 LEND=0 BREAK_RESUME | safe | deadlock | a place is resumed by a store | |
 * | TIMED STAY=0 SUMS=0 BREAK_RESTORE | safe | assert | a recall that is given up leaves nodes without their mode | a promise is left |
 * | TIMED NP=3 WRITERS=7 SUMS=0 LEND=0 FIRST=0 BREAK_HANDED | bfs middle | assert | a local head gives up and leaves what was handed to it | the queue has no head |
 * | POSTED WRITERS=3 SUMS=0 STAY=0 LEND=0 BREAK_LEFT | bfs | deadlock | a node that has left uses its NEXT in the next turn | the directory is lost |
 * | POSTED WRITERS=3 SUMS=0 STAY=0 LEND=0 BREAK_STALE | safe | assert | the swap of TAIL by which a node has left may come in a later turn | two holders |
 * | SUMS=0 STAY=0 LEND=0 NP=3 WRITERS=0 READERS=3 INTENTS=6 BREAK_ACROSS | bfs | assert | a node without intents admits sharers while others have some | sharers and intents |
 * | SUMS=0 STAY=0 LEND=0 NP=3 WRITERS=0 READERS=3 INTENTS=6 BREAK_SPREAD | safe | assert | nodes that were recalled do not get the new mode | |
 * | SUMS=0 STAY=0 LEND=0 NP=3 WRITERS=1 INTENTS=6 AHEADS=4 MEET=2 BREAK_BEHIND | bfs | deadlock | a client ahead queues as others do | it waits for the writer |
 * | SUMS=0 STAY=0 LEND=0 NP=3 WRITERS=1 INTENTS=6 AHEADS=4 MEET=2 BREAK_GATE | bfs | deadlock | a client ahead at the home's node looks at TAIL only | it waits for the writer |
 * | SUMS=0 STAY=0 LEND=0 NP=3 WRITERS=1 READERS=2 INTENTS=4 INTENTS_SHARED=4 AHEADS=4 BREAK_CLASS | bfs | assert | intents of both kinds ahead are admitted beside sharers | sharers and intents |
 * | SUMS=0 STAY=0 LEND=0 NP=3 WRITERS=1 INTENTS=6 AHEADS=2 BREAK_REOPEN | safe | assert | a recall ends while clients ahead are admitted | two holders |
 * | UNCACHED WRITERS=1 READERS=2 SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | 2 nodes of one, the home's writes, the other one's is an uncached sharer | 219 772 |
 * | UNCACHED SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | 2 nodes of one, which acquire in both ways, and share uncached | 2 193 146 |
 * | UNCACHED NP=3 PLACE=p!=0 WRITERS=3 READERS=4 SUMS=0 STAY=0 LEND=0 | safe 20M long | pass | a writer at home, 2 elsewhere, of whom one writes and one shares uncached | 35 337 509 (model before its last changes) |
 * | UNCACHED TIMED WRITERS=1 READERS=2 SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | 2 nodes of one, the home's writes, the other one's is an uncached sharer, deadlines | 4 882 652 |
 * | UNCACHED INTENTS=1 WRITERS=0 READERS=2 SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | 2 nodes of one, the home's intends, the other one's is an uncached sharer | 70 377 |
 * | UNCACHED NN=3 WRITERS=1 READERS=6 MEET=2 SUMS=0 STAY=0 LEND=0 | safe | pass | 3 nodes of one, the home's writes, the others are sharers, uncached or not, in together | 2 712 |
 * | UNCACHED NN=3 NP=4 PLACE=p%3 WRITERS=9 READERS=6 MEET=2 SUMS=0 STAY=0 LEND=0 FIRST=0 | safe | pass | the same, 2 writers, no node has the lock at first | 12 768 |
 * | UNCACHED=2 NN=3 NP=2 PLACE=p+1 WRITERS=1 READERS=3 SUMS=0 STAY=0 LEND=0 | safe | pass | 2 nodes of one, none of them the home's, one writes and shares, both share uncached | 617 951 |
 * | UNCACHED NP=3 PLACE=p!=0 WRITERS=0 INTENTS=1 INTENTS_SHARED=2 READERS=4 SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | 2 nodes; the home's intends, the other one's two intend to read and share uncached | 2 005 536 |
 * | UNCACHED NP=3 PLACE=p!=0 WRITERS=0 INTENTS=1 INTENTS_SHARED=2 READERS=4 SUMS=0 STAY=0 LEND=0 BREAK_ALL | bfs | assert | a recall to I that goes on to S does not look at all nodes again | sharers and intents |
 * | UNCACHED VOTE=1 WRITERS=1 READERS=3 SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | 2 nodes of one, the home's writes and shares, the other one's is an uncached sharer, the vote is for the home's node | 3 057 637 |
 * | UNCACHED VOTE=1 WRITERS=3 READERS=2 SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | the same, both write | 4 874 623 |
 * | UNCACHED VOTE=3 WRITERS=1 READERS=2 SUMS=0 STAY=0 LEND=0 BREAK_OPENED | bfs | assert | a sharer that has not been told takes TAIL that is 0 for SOME | two holders |
 * | UNCACHED NN=3 WRITERS=1 READERS=6 SUMS=0 STAY=0 LEND=0 BREAK_PAYS | bfs | assert | a head does not count the sharers that came with its grant | two holders |
 * | UNCACHED NN=3 WRITERS=1 READERS=6 SUMS=0 STAY=0 LEND=0 BREAK_OWES | bfs | assert | an uncached sharer forgets those that came with its grant | two holders |
 * | UNCACHED WRITERS=1 READERS=2 SUMS=0 STAY=0 LEND=0 BREAK_OWNER | bfs | assert | a writer of the home's node does not look at UNCACHED | two holders |
 * | UNCACHED WRITERS=1 READERS=2 SUMS=0 STAY=0 LEND=0 BREAK_COUNTED | bfs | assert | a sharer looks before it counts itself in UNCACHED | two holders |
 * | UNCACHED WRITERS=1 READERS=2 SUMS=0 STAY=0 LEND=0 BREAK_REMAINS | safe | deadlock | a head that is not in does not take its count back | a writer waits for ever |
 * | UNCACHED ORDERED WRITERS=1 READERS=2 SUMS=0 STAY=0 LEND=0 BREAK_BEFORE | bfs | assert | a sharer gives TAIL SOME, and gets W before that | two holders |
 * | UNCACHED ORDERED WRITERS=1 READERS=2 SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | 2 nodes of one, the home's writes, the other one's is an uncached sharer, order is kept | 217 598 |
 * | UNCACHED ORDERED TIMED WRITERS=1 READERS=2 SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | the same, deadlines | 4 815 950 |
 * | UNCACHED ORDERED VOTE=1 WRITERS=3 READERS=2 SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | 2 nodes of one, both write, order is kept, the vote is for the home's node | 4 805 638 |
 * | UNCACHED NN=3 NP=2 PLACE=p+1 WRITERS=1 READERS=2 SUMS=0 STAY=0 LEND=0 BREAK_OPENS | bfs | assert | a head leaves SOME where another node than the home's has X | two holders |
 * | UNCACHED NP=4 PLACE=p!=0 WRITERS=3 READERS=12 SUMS=0 LEND=0 FIRST=0 BREAK_KEEP | bfs middle | assert | a node keeps the queue for sharers beside uncached ones | two holders |
 * | UNCACHED NN=3 WRITERS=3 READERS=4 SUMS=0 STAY=0 LEND=0 BREAK_DRAIN | bfs | assert | a head does not wait for uncached sharers | two holders |
 * | UNCACHED NN=3 WRITERS=3 READERS=4 SUMS=0 STAY=0 LEND=0 BREAK_TOLD | bfs | deadlock | the last uncached sharer does not tell the head | |
 * | UNCACHED NN=3 WRITERS=3 READERS=4 SUMS=0 STAY=0 LEND=0 BREAK_FLUSHED | bfs | assert | a head leaves the queue before it counts itself in UNCACHED | two holders |
 * | TAKES NP=4 WRITERS=3 MEET=2 SUMS=0 STAY=0 LEND=0 | safe 20M middle | pass | 2 writers and 2 sharers at 2 nodes, each sharer stays in until the other is; one that keeps the queue gives it up | 3 219 388 |
 * | TAKES SUMS=0 STAY=0 LEND=0 | safe 20M long | pass | 2 nodes of one, sharers keep the queue and give it up | |
 * | TAKES NP=4 WRITERS=3 MEET=2 SUMS=0 STAY=0 LEND=0 BREAK_TAKE | safe | deadlock | sharers that keep the queue are left alone | sharers wait for each other |
 * | TAKES NP=3 PLACE=p!=0 WRITERS=4 READERS=3 SUMS=0 LEND=0 BREAK_IDLE | bfs | assert | a sharer keeps the queue although others have the lock at home | two holders |
 * | TAKES NP=3 WRITERS=5 READERS=7 SUMS=0 LEND=0 BREAK_GLANCE | safe 20M | assert | the queue is taken over without a second look at W | two heads |
 * | TAKES NP=3 WRITERS=5 READERS=7 SUMS=0 LEND=0 BREAK_CLAIMS | safe 20M | assert | the last sharer does not look whether the queue is being taken over | two heads |
 * | TAKES NP=3 WRITERS=5 READERS=7 SUMS=0 LEND=0 BREAK_TAKEN | safe | assert | a node from which the queue is taken over is not in the directory | two holders |
 * | TAKES NP=3 WRITERS=5 READERS=7 SUMS=0 LEND=0 BREAK_ENDS | safe | deadlock | the last sharer takes a queue that has been taken over for its own | |
 */
#ifndef NN
#define NN 2
#endif
#ifndef NP
#define NP NN /* clients; client p is at node PLACE */
#endif
#ifndef PLACE
#define PLACE p % NN
#endif
/* Which clients may acquire in which mode */
#ifndef INTENTS
#define INTENTS 0
#endif
#ifndef INTENTS_SHARED
#define INTENTS_SHARED 0
#endif
#ifndef WRITERS
#define WRITERS 255
#define READERS 255
#endif
#ifndef READERS
#define READERS ~(WRITERS | INTENTS | INTENTS_SHARED)
#endif
#define WRITES ((WRITERS >> p) & 1)
#define READS ((READERS >> p) & 1)
#define INTENDS ((INTENTS >> p) & 1)
#define INTENDS_SHARED ((INTENTS_SHARED >> p) & 1)
#ifndef AHEADS
#define AHEADS 0
#endif
#define IS_AHEAD ((AHEADS >> p) & 1)
#ifdef BREAK_BEHIND
#define AHEAD false
#else
#define AHEAD IS_AHEAD
#endif

/* Modes of nodes, and of clients */
#define N 0
#define S 1
#define X 2
#define I 3
#define IS 4

/* W */
byte rd[NN];
bit wr[NN], handed[NN], keeps[NN], awaited[NN];
byte nq[NN];
#if INTENTS || INTENTS_SHARED
byte ix[NN], is[NN];
#define IX_(i) ix[i]
#define IS_(i) is[i]
#define COUNT_INTENTS(d) ix[n] = ix[n] + (c == I -> d : 0); is[n] = is[n] + (c == IS -> d : 0)
#else
#define IX_(i) 0
#define IS_(i) 0
#define COUNT_INTENTS(d) skip
#endif
#define WRITER(i) (wr[i] || handed[i])
#define HOLDERS(i) (WRITER(i) || rd[i] || IX_(i) || IS_(i))
/* Holders in the way of a node's mode; of a client. */
#define CONFLICT(i, t) \
	(WRITER(i) || (t == N && HOLDERS(i)) || (t == S && IX_(i)) || (t == I && rd[i]))
#define EXCLUDED CONFLICT(n, (c == X -> N : (c == IS -> X : c)))
#define INTENT(i) (IX_(i) || IS_(i))
/* MODE, ACK */
byte mode[NN], to[NN], back[NN], asker[NN];
bit old[NN];
#if AHEADS
byte ahead[NN]; /* the mode that MODE has for clients ahead */
byte asks[NN];  /* nodes that have asked this one, which recalls, for clients ahead */
#ifdef BREAK_GATE
#define ADMITS(i) (PERMITS(mode[i]) || GATE(i) || (AHEAD && i != HOME && PERMITS(ahead[i])))
#else
#define ADMITS(i) (PERMITS(mode[i]) || GATE(i) || (AHEAD && PERMITS(ahead[i])))
#endif
#define SET_AHEAD(i, v) ahead[i] = v
#else
#define ADMITS(i) (PERMITS(mode[i]) || GATE(i))
#define SET_AHEAD(i, v) skip
#endif
#define OLD 1
#define NOW 2
#define NOW_IDLE 3
#ifdef TAKES
#define IS_NOW(a) ((a) >= NOW)
#else
#define IS_NOW(a) ((a) == NOW)
#endif
byte ack[NN];
/* The node's place */
#define FREE 0
#define WAITING 1
#define GRANTED 2
#define ABANDONED 3
#define PASSING 4
#define PASSED 5
#define LEFT 9 /* NEXT: the node has left, with the directory lo, lm, ls */
byte status[NN];
#if defined(POSTED) || defined(TAKES)
/* NEXT of even and of odd turns; a place that TAIL or NEXT has names one of them. */
#define PLACES (2 * NN)
bit odd[NN];
#define POS(i) (i + NN * odd[i])
#else
#define PLACES NN
#define POS(i) i
#endif
#ifdef POSTED
bit lo[PLACES], pleave[PLACES]; /* pleave: the swap of TAIL by which a node leaves is on its way */
byte lm[PLACES], ls[PLACES];
#endif
#define NODE(place) ((place) % NN)
/* A place comes once: where it is not the last one any more, the swap of TAIL will fail. */
#ifdef BREAK_STALE
#define LAST 1
#else
#define LAST (tail == POS(n) + 1)
#endif
byte next[PLACES];
bit writes[PLACES]; /* in NEXT: of an exclusive client without a deadline */
#define NEXT next[POS(n)]
bit gopen[NN];
byte gm[NN], gset[NN];
/* The directory: at the home, and at a node that keeps the queue */
#ifdef VOTE
#define FIRST N
#endif
#ifndef FIRST
#define FIRST X
#endif
byte tail, m = FIRST, set = (FIRST != N);
bit open = (FIRST != N);
byte km[NN], kset[NN];
bit lh[NN];
/* A client that is about to acknowledge: to which node, and whether its number is old by now */
byte aims[NP];
bit stale[NP];

#define BIT(i) (1 << (i))
#define PERMITS(v) \
	(v == X || (v == S && (c == S || c == IS)) || (v == I && (c == I || c == IS)))
#ifndef HOME
#define HOME 0
#endif
#define GATE(i) \
	((i == HOME && !tail && open && (set & BIT(HOME)) && PERMITS(m)) || FIRST_ADMITS(i))
/* What the vote decides, and what each client has been told; whether TAIL and MODE are 0 still. */
#define OWNED 1
#define NONE 2
#define SHARED 3
/* In a set: and nodes have S by the vote, if that is SHARED (F3). */
#define UNTOLD BIT(NN)
#ifdef VOTE
byte first, told[NP];
bit fresh = 1, written[NN];
#define FIRST_ADMITS(i)                                                                            \
	((!written[i] && told[p] == SHARED && PERMITS(S)) ||                                       \
	 (i == HOME && !tail && fresh && told[p] == OWNED))
#define WRITTEN(i) written[i] = 1
#define UNWRITTEN(i) !written[i]
#define FRESH fresh
/* With UNCACHED, the vote for the home's node gives the directory SOME. */
#ifdef BREAK_OPENED
#define SOME_FIRST (!tail && fresh)
#else
#define SOME_FIRST (!tail && fresh && told[p] == OWNED)
#endif
#else
#define FRESH false
#define SOME_FIRST false
#define FIRST_ADMITS(i) false
#define WRITTEN(i) skip
#define UNWRITTEN(i) false
#endif
#ifdef BREAK_HOME
#define SEEN(t) e
#else
#define SEEN(t) CONFLICT(HOME, t)
#endif
/* Of the home's node, TAIL says that it has X: so MODE has no BACK, and L3 does not write it. */
#define IS_AT_HOME (dm == X && ds == BIT(HOME))
#define LENT (IS_AT_HOME -> N : r)
/* The mode that a client which is not exclusive shares, where nobody has one */
#define MINE (c == IS -> I : c)
/* Whether a holder like this client is in the way of a recall to v */
#define IN_WAY(v) (c == X || from || v == N || (v == S && c == I) || (v == I && c == S))

#ifdef TORN
bit busy[NN];
#define IDLE(i) !busy[i]
#else
#define IDLE(i) true
#endif

#ifdef POSTED
/* On their way: acknowledgements and grants to a node. */
byte pack[NN];
bit pgrant[NN];
#define ACK pack
#define SETTLED(i) (!pleave[i] && !pleave[i + NN] && !pack[i])
#else
#define ACK ack
#endif
#if defined(POSTED) && !defined(TIMED)
#define GIVE(i) pgrant[i] = 1
#else
#define GIVE(i) status[i] = GRANTED
#endif

#include "ghost.inc"
byte ni, nl; /* intents, and intents shared, in the critical section */

#ifdef MEET
byte met; /* clients that are in, or have been */
bit had[NP];
#define once had[p]
/* Those that do not write acquire once: when the writers have stopped; or at once, those ahead
 * when the others are in, which wait for them. */
#if AHEADS
#define MEETS (WRITES || (!once && (!IS_AHEAD || met == MEET - 1)))
#else
#define MEETS (WRITES || (!once && alive == MEET))
#endif
#endif
#ifdef TIMED
#ifdef LIVE
#define MAY_TIME_OUT (p != LIVE)
#else
#define MAY_TIME_OUT (u == 0)
#endif
#else
#define MAY_TIME_OUT false
#endif
#ifndef LEND
#define LEND 1
#endif
#ifndef STAY
#define STAY 1
#endif

#ifndef SUMS
#define SUMS 1
#endif

#if NP > NN
#define MORE_WAIT (nq[n] > 1)
#else
#define MORE_WAIT false
#endif
bit left[NN]; /* in NOTES: the node's place is for the next head of its queue */
/* G: whether the head of a node's queue may stay it while it is in; W has been granted to the next */
#define HEADS (NP > NN && STAY)
bit given[NN];
#define IN_AS_HEAD \
	awaited[n] = 0; q = 0; \
	if \
	:: HEADS && c == X -> y = 1 \
	:: true -> lh[n] = 0; nq[n]-- \
	fi
#define TAKE_GRANT \
	o = gopen[n]; dm = gm[n]; ds = gset[n]; status[n] = FREE; \
	gopen[n] = 0; gm[n] = 0; gset[n] = 0

#if AHEADS
/* Whether no holder at the nodes of the directory is in the way of mode v */
#define NOT_AT(i, v) (!(ds & BIT(i)) || !CONFLICT(i, v))
#define NONE_IN_WAY(v) (NOT_AT(0, v) && NOT_AT(1, v) && NOT_AT(NN - 1, v))
#define LOOKS_AHEAD (INTENTS_SHARED & AHEADS)
/* A client ahead has found a recall in MODE of node i. */
#ifdef BREAK_GATE
#define MAY_ASK (AHEAD && n != HOME)
#else
#define MAY_ASK AHEAD
#endif
#define ASK(i) (MAY_ASK && asker[i] && !(asks[asker[i] - 1] & BIT(n)) && !ADMITS(n))
#define NOT_ASKED asks[n] = 0
#define NOT_GIVEN g = 0
#else
#define NOT_ASKED skip
#define NOT_GIVEN skip
#endif

/* E: how many exclusive clients are in the queue of the node, behind its head. */
#ifdef EXCLUDES
byte xq[NN];
#define QUEUE_UP nq[n]++; xq[n] = xq[n] + (c == X)
#define BE_HEAD lh[n] = 1; xq[n] = xq[n] - (c == X)
#ifdef BREAK_MARK
#define MAY_EXCLUDE (c == S)
#else
#define MAY_EXCLUDE (c == S && xq[n])
#endif
#define SHARES (c != X || as)
#else
#define QUEUE_UP nq[n]++
#define BE_HEAD lh[n] = 1
#define SHARES (c != X)
#endif

#ifdef MEET
#define MET met = met + SHARES; once = SHARES
#define ALL_MET (!SHARES || met == MEET)
#else
#define MET skip
#define ALL_MET true
#endif

/* U: UNCACHED, with the node that waits until there is no sharer left; whether the directory,
 * wherever it is, has SOME. */
#ifdef UNCACHED
#define SOME some
#define FIRST_SOME some = 1
/* U5: an exclusive client that leaves the queue empty may leave SOME, unless nodes have I, or
 * another one than the home's has X. */
#ifdef BREAK_OPENS
#define MAY_LEAVE_SOME true
#else
#define MAY_LEAVE_SOME (dm == N || dm == S || IS_AT_HOME)
#endif
#define LEAVE_SOME if :: from == 1 && o && MAY_LEAVE_SOME -> some = 1 :: true fi;
#define CLOSED \
	waiter = 0; \
	if :: t != S -> some = 0 :: else fi
short uncached;
byte waiter, debt; /* debt: of the grant, wherever that is */
bit some;
#define MAY_SHARE_UNCACHED \
	(c == S && n != HOME && (o || !ds) && \
	 (dm == S || dm == N || (IS_AT_HOME && (debt || !SEEN(S)))))
#if UNCACHED == 2
#define MAY_JOIN !MAY_SHARE_UNCACHED
#else
#define MAY_JOIN true
#endif
#ifdef BREAK_PAYS
#define PAY debt = 0
#else
#define PAY uncached = uncached + debt; debt = 0
#endif
#ifdef BREAK_OWES
#define OWE debt = 1
#else
#define OWE debt++
#endif
#define HAS_TO_DRAIN (n == HOME && !tail && (some || FRESH) && (c == X || c == I))
#ifdef BREAK_OWNER
#define MAY_ENTER true
#else
#define MAY_ENTER (!uncached)
#endif
#ifdef BREAK_DRAIN
#define DRAINED true
#else
#define DRAINED (!some || t == S || !uncached)
#endif
#else
#define SOME false
#define FIRST_SOME skip
#define LEAVE_SOME
#define HAS_TO_DRAIN false
#define MAY_ENTER true
#define DRAINED true
#define CLOSED skip
#endif

/* S3: beside sharers for which the node keeps the queue */
#define JOINS (c != X && keeps[n] && rd[n] && !EXCLUDED)

/* S5, T: sharers keep the queue; STATUS of their node has the directory (kept), or says that another
 * one has taken the queue over (taken); NEXT has a mark (takes). */
#ifdef TAKES
bit kept[NN], taken[NN], takes[PLACES];
#define MAY_KEEP (c == S && !SOME && (!ds || IS_AT_HOME))
#define MAY_KEEP_HANDED (c == S && (!kset[n] || (km[n] == X && kset[n] == BIT(HOME))))
#define KEPT(i) (i != n && keeps[i] && rd[i] && !WRITER(i) && kept[i])
#define IS_TAKEN taken[n]
#define STILL_IN (!taken[n] || ADMITS(n))
#define KEEP_DIR kept[n] = 1; idle = 0; keep = 0
#define RESET_TAKES takes[POS(n)] = 0
#define USED skip
#ifdef BREAK_IDLE
#define LOOK_IDLE(i) idle = 1
#else
#define LOOK_IDLE(i) idle = !HOLDERS(i)
#endif
#define CLOSES keep
#define FORGET kept[n] = 0
#else
#define IS_TAKEN false
#define KEEP_DIR skip
#define RESET_TAKES skip
#define USED NEXT = 0
#define LOOK_IDLE(i) skip
#define CLOSES false
#define FORGET skip
#endif

inline critical(p)
{
	atomic {
		nw = nw + (c == X); nr = nr + (c == S); ni = ni + (c == I); nl = nl + (c == IS);
		assert(nw + (nr != 0) + (ni != 0) < 2 && !(nw && nl));
		MET; IN
	};
	atomic {
		ALL_MET -> nw = nw - (c == X); nr = nr - (c == S); ni = ni - (c == I);
		nl = nl - (c == IS); OUT_OF
	}
}

/* A new number for recalls by this node: all copies of an earlier one are old. */
inline new_number()
{
#ifndef BREAK_NUMBER
	for (j : 0 .. NN - 1) {
		if :: asker[j] == n + 1 -> old[j] = 1 :: else fi
	}
	for (j : 0 .. NP - 1) {
		if :: aims[j] == n + 1 -> stale[j] = 1 :: else fi
	}
#ifdef POSTED
	pack[n] = (pack[n] -> OLD : 0);
#endif
	ack[n] = (ack[n] -> OLD : 0);
#endif
	j = 0
}

/* MODE of node i: mode v, recalled to t, what it will get back, and the node that recalls it. */
inline write_mode(i, mm, tt, bb, aa)
{
	d_step {
		mode[i] = mm; to[i] = tt; back[i] = bb; asker[i] = aa; old[i] = 0; SET_AHEAD(i, N);
		WRITTEN(i)
	}
}

/* MODE of all nodes of the directory in hand, one after the other; j is 0 before and after. */
inline write_modes(nodes, mm, tt, bb, aa)
{
	do
	:: atomic { j < NN && !(nodes & BIT(j)) -> j++ }
	:: atomic { j < NN && (nodes & BIT(j)) -> write_mode(j, mm, tt, bb, aa); j++ }
	:: atomic { j == NN -> j = 0; break }
	od
}
/* L3 */
inline give_back()
{
	if
	:: atomic { IS_AT_HOME }
	:: atomic { !IS_AT_HOME };
		write_modes(ds, dm, N, 0, 0)
	fi
}

#ifdef BREAK_SHARERS
#define NEXT_WRITES (c == S)
#else
#define NEXT_WRITES (c == S && !AHEADS && NEXT && writes[POS(n)])
#endif
#define NO_HEAD awaited[n] = 0; lh[n] = 0; nq[n]--; q = 0
#define GONE if :: v -> v = 0 :: else -> NO_HEAD fi
/* One more holder at the node; W becomes free; nothing is to be acknowledged. */
#define COUNT wr[n] = wr[n] || (c == X); rd[n] = rd[n] + (c == S); COUNT_INTENTS(1)
#define FREE_W wr[n] = 0; keeps[n] = 0; km[n] = 0; kset[n] = 0
#define NO_ACK t = 0; aims[p] = 0; stale[p] = 0; from = (from == 1 -> 0 : from)
/* The directory in hand: into TAIL, into words of node i, and out of hand. */
#define PUBLISH tail = 0; open = o; m = dm; set = ds
#define INTO(i) gopen[i] = o; gm[i] = dm; gset[i] = ds
#define NO_DIR o = 0; dm = 0; ds = 0

proctype P(byte p)
{
	byte n = PLACE, s, j, t, r; /* j: a node; t: mode to which others are recalled; r: lent */
	byte c;             /* how the client acquires */
	bit o, b;           /* b: a count that is taken back (H3); q: by the head of the node's queue, */
	byte q;             /* one that waits for the node's turn, one ahead, one that gives up then */
	bit u;              /* no deadline */
	bit v;              /* it has taken W as a client that is not the local head */
	bit y;              /* it is in, and the local head still */
#ifdef EXCLUDES
	bit as;             /* a sharer that acquires as an exclusive client does (E) */
#endif
	bit w, was;      /* it holds the lock by UNCACHED; it has */
	bit z;              /* it has waited at the home's node (B), once in this acquire */
#ifdef TAKES
	bit keep, idle;     /* the head is to keep the queue for sharers; nobody was in at a look */
	byte turn, after;   /* the place of a node from which the queue is taken over, the next one */
#endif
#ifdef BREAK_HOME
	bit e;
#endif
	byte dm, ds;        /* with o: the directory in the hand of the head */
	bit h, cl;          /* h: it has one; cl: MODE of nodes that are recalled admits nobody */
	byte from;          /* why the queue is left: 0 a sharer enters, 1 a holder leaves, 2 given up,
			       4 a sharer enters that has W, 6 and grants to the next node; 3: as 4, by
			       a hit; 5 in by a hit */
#if AHEADS
	byte g, k;          /* nodes that admit clients ahead meanwhile, and in which mode */
#endif

	do
#ifdef MEET
	:: MEETS ->
#else
	:: true ->
#endif
	   if
	   :: WRITES -> c = X
	   :: READS -> c = S
	   :: INTENDS -> c = I
	   :: INTENDS_SHARED -> c = IS
	   fi;
#if defined(TIMED) && !defined(LIVE) && NN == 2
	   if :: c == X -> u = 1 :: u = 0 fi;
#endif
	   WANT;
#if AHEADS
		if :: AHEAD -> goto before :: else fi;
#endif
try:
		/* H1, H2: a hit */
		if
#ifdef BREAK_ORDER
		:: ADMITS(n) -> atomic { !EXCLUDED -> COUNT; goto cs }
#endif
		:: atomic { c != S && !EXCLUDED && (SUMS || ADMITS(n)) -> COUNT };
			if
			:: atomic { ADMITS(n) && !HAS_TO_DRAIN -> goto cs }
#ifdef UNCACHED
			:: atomic { ADMITS(n) && HAS_TO_DRAIN };
				if
				:: atomic { MAY_ENTER -> goto cs }
				:: atomic { MAY_TIME_OUT -> b = 1; q = 4; goto release }
				fi
#endif
			:: atomic { else -> b = 1; goto release }
			fi
		:: atomic {
				c == S && (SUMS || (!EXCLUDED && ADMITS(n))) ->
				rd[n]++; o = EXCLUDED
			};
			if
			:: atomic { !o && ADMITS(n) -> goto cs }
			:: atomic { else -> o = 0; b = 1; goto release }
			fi
		/* L1, S3 */
		:: atomic { c == X && handed[n] -> handed[n] = 0; wr[n] = 1; goto cs }
		:: atomic { c != X && handed[n] -> handed[n] = 0; wr[n] = 1; v = 1; goto handed_over }
#ifdef TAKES
		:: atomic { JOINS -> COUNT };
			if
			:: atomic { STILL_IN -> goto cs }
			:: atomic { !STILL_IN -> b = 1; goto release }
			fi
#else
		:: atomic { JOINS -> COUNT; goto cs }
#endif
		:: skip
		fi;
slow:
#ifdef UNCACHED
		/* U1 */
		if
#ifdef BREAK_COUNTED
		:: c == S && n != HOME && !tail && some && !(m == X && CONFLICT(HOME, S)) ->
			atomic { uncached++; w = 1; goto cs }
#endif
		:: atomic { c == S && n != HOME -> uncached++ };
			/* U2: TAIL, and W of the home's node, after it or, unless order is kept,
			 * before it; ORDERED: TAIL may get SOME */
#ifdef BREAK_BEFORE
			if :: atomic { CONFLICT(HOME, S) -> goto uncount } :: atomic { else } fi;
#endif
			if
			:: atomic { !tail && some -> r = m }
			:: atomic { SOME_FIRST -> r = X }
#ifdef ORDERED
			:: atomic {
					!tail && !FRESH && !some && m != I &&
					(m != X || set == BIT(HOME)) ->
					some = 1; r = m
				}
#else
			:: atomic { !CONFLICT(HOME, S) };
				if
				:: atomic { (!tail && some) || SOME_FIRST -> r = N }
				:: atomic { else -> goto uncount }
				fi
#endif
			:: atomic { !(!tail && some) && !SOME_FIRST -> goto uncount }
			fi;
			if
#ifndef BREAK_BEFORE
			:: atomic { r == X && CONFLICT(HOME, S) -> goto uncount }
			:: atomic { !(r == X && CONFLICT(HOME, S)) -> r = 0; w = 1; goto cs }
#else
			:: atomic { r = 0; w = 1; goto cs }
#endif
			fi
		:: skip
		fi;
		goto cached;
uncount:
		/* U4 */
		atomic { r = 0; w = 0; uncached--; s = (uncached == 0 -> waiter : 0) };
		if
#ifndef BREAK_TOLD
		:: atomic { s -> ack[s - 1] = OLD; s = 0 }
#endif
		:: atomic { else -> s = 0 }
		fi;
		if :: atomic { was -> was = 0; goto out } :: atomic { else } fi;
cached:
#endif
#ifdef VOTE
		/* F1, F2 */
		if
		:: told[p]
		:: atomic { !told[p] && first -> told[p] = first; goto try }
		:: atomic { !told[p] && !first -> first = VOTE; told[p] = VOTE; goto try }
		:: !told[p] && !first
		fi;
#endif
		/* B: a client whose node will get its mode back waits for that */
		if
		:: back[n] && PERMITS(back[n]) ->
			if
			:: !back[n] || ADMITS(n) -> goto try
			:: MAY_TIME_OUT -> goto out
			fi
		/* ... a sharer whose node is about to leave the queue, for that */
		:: c == S && mode[n] == S && keeps[n] && EXCLUDED ->
			if
			:: !keeps[n] -> goto try
			:: MAY_TIME_OUT -> goto out
			fi
		/* ... and one at the home's node waits, but not for ever, while another node is last */
#ifndef UNVISITED
		:: atomic { n == HOME && tail && !LAST && !nq[n] && !z -> z = 1; goto try }
#endif
		:: skip
		fi;
		atomic { QUEUE_UP; z = 0 };
		if
		:: atomic { !lh[n] && !given[n] -> BE_HEAD }
		/* G1 */
		:: atomic { given[n] && c == X -> given[n] = 0; BE_HEAD; assert(!left[n]); IN_AS_HEAD; goto cs }
#ifdef EXCLUDES
		/* E */
		:: atomic { !lh[n] && !given[n] && MAY_EXCLUDE -> lh[n] = 1; c = X; as = 1 }
		:: atomic {
				given[n] && MAY_EXCLUDE ->
				given[n] = 0; lh[n] = 1; assert(!left[n]); c = X; as = 1;
				IN_AS_HEAD; goto cs
			}
#endif
		:: atomic { given[n] && c != X -> given[n] = 0; lh[n] = 1; assert(!left[n]); goto handed_over }
		:: atomic { MAY_TIME_OUT && !(given[n] && nq[n] == 1) -> goto emptied }
		fi;
		/* D1: the node's place may have been left to this client */
		if :: atomic { left[n] -> left[n] = 0; goto await } :: else fi;
head:
		/* The head of the queue of its node */
		if
		:: atomic { c == X && handed[n] -> handed[n] = 0; wr[n] = 1; IN_AS_HEAD; goto cs }
		:: atomic { c != X && handed[n] -> handed[n] = 0; wr[n] = 1; goto handed_over }
#ifdef TAKES
		:: atomic { JOINS -> COUNT };
			if
			:: atomic { STILL_IN -> NO_HEAD; goto cs }
			:: atomic { !STILL_IN -> b = 1; q = 5; goto release }
			fi
#else
		:: atomic { JOINS -> NO_HEAD; COUNT; goto cs }
#endif
		/* H1, H2 */
		:: atomic { !q && !handed[n] && ADMITS(n) && !EXCLUDED -> COUNT };
			if
			:: atomic { ADMITS(n) && !HAS_TO_DRAIN -> IN_AS_HEAD; goto cs }
#ifdef UNCACHED
			:: atomic { ADMITS(n) && HAS_TO_DRAIN };
				if
				:: atomic { MAY_ENTER -> IN_AS_HEAD; goto cs }
				:: atomic { MAY_TIME_OUT -> q = 6; b = 1; goto release }
				fi
#endif
#ifdef BREAK_HITS
			:: atomic { else -> NO_HEAD; b = 1; goto release }
#else
			:: atomic { else -> q = 1; b = 1; goto release }
#endif
			fi
#if SUMS
		/* A sharer adds itself, and finds then what excludes it. */
		:: atomic { !q && c == S && EXCLUDED -> COUNT; q = 5; b = 1; goto release }
#endif
		:: atomic {
				!WRITER(n) && !keeps[n] && (q || !ADMITS(n)) -> q = 0
			};
			if
#ifdef BREAK_AWAITED
			:: atomic { awaited[n] = 0 }
#else
			:: atomic { !handed[n] -> awaited[n] = 0 }
			:: atomic { handed[n] -> goto head }
#endif
			fi
		:: atomic {
				STAY && !awaited[n] && !handed[n] && HOLDERS(n) ->
				awaited[n] = 1; goto head
			}
		:: atomic { MAY_TIME_OUT && !handed[n] -> awaited[n] = 0; lh[n] = 0; goto emptied }
		fi;
miss:
		/* A miss. D2: resume the node's place */
		if
#ifdef BREAK_RESUME
		:: status[n] == ABANDONED -> status[n] = WAITING; goto await
#else
		:: atomic { IDLE(n) && status[n] == ABANDONED -> status[n] = WAITING; goto await }
#endif
		:: status[n] == FREE || status[n] == PASSED
		fi;
		/* Q1 */
		d_step {
#if (defined(POSTED) || defined(TAKES)) && !defined(BREAK_LEFT)
			odd[n] = 1 - odd[n];
#endif
			NEXT = 0; writes[POS(n)] = 0; RESET_TAKES; status[n] = WAITING
		};
#ifdef BREAK_HOME
		e = CONFLICT(HOME, N);
#endif
		/* Q2 */
		atomic {
			s = tail; tail = POS(n) + 1;
#if defined(POSTED) && !defined(BREAK_STALE)
			/* The place that TAIL had will not come again. */
			if :: s -> pleave[s - 1] = 0 :: else fi;
#endif
			if
#ifdef VOTE
			:: s == 0 && fresh -> fresh = 0; goto ask
			:: s == 0 && !fresh ->
#else
			:: s == 0 ->
#endif
				o = open; dm = m; ds = set; open = 0; m = 0; set = 0; goto has
			:: else
			fi
		};
		/* Q3 */
#ifdef POSTED
		atomic {
			if
			:: next[s - 1] == LEFT -> /* P2 */
				next[s - 1] = 0;
				o = lo[s - 1]; dm = lm[s - 1]; ds = ls[s - 1];
				lo[s - 1] = 0; lm[s - 1] = 0; ls[s - 1] = 0; s = 0;
				status[n] = FREE; goto has
			:: else ->
				next[s - 1] = POS(n) + 1;
				writes[s - 1] = (c == X && !MAY_TIME_OUT); s = 0
			fi
		};
#else
		atomic {
			next[s - 1] = POS(n) + 1; writes[s - 1] = (c == X && !MAY_TIME_OUT); s = 0
		};
#endif
await:
		/* Q4 */
		if
		:: atomic { IDLE(n) && status[n] == GRANTED -> TAKE_GRANT }
		/* D1 */
		:: atomic { IDLE(n) && MAY_TIME_OUT && status[n] == WAITING -> from = 2; goto quit }
#if defined(TAKES) && !defined(BREAK_TAKE)
		/* T1 */
		:: atomic { (c == S || c == IS) && status[n] == WAITING && KEPT(0) -> s = 1; goto take }
		:: atomic { (c == S || c == IS) && status[n] == WAITING && KEPT(1) -> s = 2; goto take }
#if NN > 2
		:: atomic { (c == S || c == IS) && status[n] == WAITING && KEPT(2) -> s = 3; goto take }
#endif
#endif
#if defined(TIMED) || AHEADS
		/* The node has been given its mode back */
		:: atomic {
				c != X && status[n] == WAITING && ADMITS(n) && !handed[n] &&
				(AHEAD || !EXCLUDED) ->
				COUNT
			};
			if
			:: atomic { ADMITS(n) };
				atomic { !EXCLUDED -> from = 5; goto quit }
			:: atomic { else -> q = 2; b = 1; goto release }
			fi
#endif
#if AHEADS
		:: atomic { ASK(0) -> asks[asker[0] - 1] = asks[asker[0] - 1] | BIT(n); goto await }
		:: atomic { ASK(1) -> asks[asker[1] - 1] = asks[asker[1] - 1] | BIT(n); goto await }
		:: atomic {
				ASK(NN - 1) ->
				asks[asker[NN - 1] - 1] = asks[asker[NN - 1] - 1] | BIT(n); goto await
			}
#endif
		fi;
#if defined(VOTE) || defined(TAKES)
		goto has;
#endif
#ifdef TAKES
take:
		/* T2: the turn, and then NEXT of that, and whether the node keeps the queue */
		atomic { turn = POS(s - 1) };
		if
		:: atomic { next[turn] && !writes[turn] -> after = next[turn] }
		:: atomic { !next[turn] || writes[turn] -> s = 0; turn = 0; goto await }
		fi;
		if
		:: atomic { keeps[s - 1] }
		:: atomic { !keeps[s - 1] -> s = 0; after = 0; turn = 0; goto await }
		fi;
		atomic { next[turn] = after; takes[turn] = 1; turn = 0 };
		/* T3 */
		if
#ifdef BREAK_GLANCE
		:: true
#else
		:: atomic { KEPT(s - 1) }
		:: atomic { !KEPT(s - 1) -> s = 0; after = 0; goto await }
#endif
		fi;
		/* T4 */
		if
		:: atomic {
				kept[s - 1] ->
				kept[s - 1] = 0; taken[s - 1] = 1; dm = km[s - 1]; ds = kset[s - 1]
			}
		:: atomic { !kept[s - 1] -> s = 0; after = 0; goto await }
		fi;
		/* T5 */
		write_modes(ds, S, N, 0, 0);
		write_mode(s - 1, S, N, 0, 0);
		/* T6 */
		atomic {
			dm = S; o = 1; from = 7;
#ifndef BREAK_TAKEN
			ds = ds | BIT(s - 1);
#endif
			s = after; after = 0;
			goto freed
		};
#endif
#ifdef VOTE
ask:
		/* F3 */
		atomic {
#ifndef BREAK_FIRST
			if :: !told[p] -> told[p] = first :: else fi;
#endif
			if
			:: told[p] == OWNED -> o = 1; dm = X; ds = BIT(HOME); FIRST_SOME
			:: told[p] == NONE -> NO_DIR
#ifdef BREAK_UNTOLD
			:: told[p] == 0 -> NO_DIR
#else
			:: told[p] == 0 -> o = 1; dm = S; ds = BIT(HOME) | UNTOLD
#endif
			:: told[p] == SHARED -> o = 1; dm = S; ds = BIT(NN) - 1
			fi
		};
#endif
has:
		/* The head of the queue of nodes, with the directory: o, dm, ds */
		atomic { h = 1; if :: dm == N -> o = 0 :: else fi };
#ifdef VOTE
		/* F4 */
		atomic {
			if
			:: (ds & UNTOLD) && !told[p] && !PERMITS(S) -> told[p] = first
			:: else
			fi;
			if
#ifdef BREAK_DECIDED
			:: ds & UNTOLD -> ds = ds & ~UNTOLD
#else
			:: (ds & UNTOLD) && told[p] && told[p] != SHARED -> ds = ds & ~UNTOLD
			:: (ds & UNTOLD) && (!told[p] || told[p] == SHARED) && !PERMITS(S) ->
				ds = BIT(NN) - 1
#endif
			:: else
			fi
		};
#endif
#ifdef UNCACHED
		/* U3 */
		if
		:: atomic {
				MAY_SHARE_UNCACHED -> o = 1; w = 1; some = 1;
				if
				:: dm != S && debt < 2 -> OWE
				:: dm == S || debt == 2
#ifndef BREAK_FLUSHED
					-> uncached = uncached + debt + 1; debt = 0
#endif
				fi;
				goto depart
			}
#ifndef ORDERED
		/* It counts itself as it looks, and takes that back if it is not in. */
		:: atomic { c == S && n != HOME && o && IS_AT_HOME && !debt -> uncached++ };
			if
			:: atomic { !SEEN(S) -> w = 1; some = 1; goto depart }
#ifdef BREAK_REMAINS
			:: atomic { SEEN(S) }
#else
			:: atomic { SEEN(S) -> uncached-- }
#endif
			fi
#endif
		:: atomic { MAY_JOIN && debt -> PAY }
		:: atomic { MAY_JOIN && !debt }
		fi;
		/* U5: nobody is recalled from nodes that have the lock no more */
		if
		:: atomic { some && !o && c != S -> t = (c == X -> N : I); goto drain }
		:: atomic { else }
		fi;
#endif
		if
		:: atomic { o && c == X -> t = N }
		:: atomic { o && PERMITS(dm) && dm != X -> goto join }
		:: atomic { o && c != X && !(PERMITS(dm) && dm != X) -> t = MINE }
		:: atomic { !o && c == X -> goto enter }
#ifdef BREAK_KEEP
		:: atomic { !o && NEXT_WRITES -> goto enter }
#else
		:: atomic { !o && NEXT_WRITES && !SOME -> goto enter } /* S3 */
#endif
#ifdef TAKES
		/* S5 */
		:: atomic { !o && MAY_KEEP -> goto enter }
		:: atomic { o && n != HOME && MAY_KEEP && IS_AT_HOME -> t = S; keep = 1 }
#endif
		:: !o && c != X ->
			/* S1: share, with the nodes that get their mode back */
			if
			:: c != IS || dm == X || dm == N -> dm = MINE
			:: else
			fi;
			write_modes(ds, dm, N, 0, 0);
			atomic { o = 1; goto join }
		fi;
		/* C1 */
		if :: LEND && t == N -> r = dm :: r = 0 fi;
		d_step { new_number(); ack[n] = 0; cl = (dm != X || t == N || SOME || CLOSES); NOT_ASKED };
		/* C0 */
		if
		:: atomic {
				IS_AT_HOME && n != HOME && !SEEN(t) && DRAINED ->
				j = NN; cl = 0; LOOK_IDLE(HOME)
			}
		:: atomic { !IS_AT_HOME || n == HOME || SEEN(t) || !DRAINED }
		fi;
		if
#ifdef TAKES
		:: atomic { j == NN && keep && idle -> j = 0; t = 0; CLOSED; goto keeps_it }
		:: atomic { j == NN && t != N && !(keep && idle) -> j = 0; keep = 0; idle = 0; CLOSED };
#else
		:: atomic { j == NN && t != N -> j = 0; CLOSED };
#endif
			/* TAIL will say so */
			atomic { dm = t; t = 0; r = 0; goto join }
		:: atomic { j == NN && t == N -> j = 0; CLOSED; dm = r; ds = (r -> ds : 0); o = 0; goto enter }
		:: else
		fi;
#ifdef BREAK_ACROSS
		cl = (t == N);
#endif
#ifdef BREAK_CLOSE
		do
		:: j < NN && !(ds & BIT(j)) -> j++
		:: j < NN && (ds & BIT(j)) && !CONFLICT(j, t) ->
			write_mode(j, (cl -> N : t), t, LENT, n + 1); j++
		:: j == NN -> j = 0; break
		od;
#else
#ifdef BREAK_OWN
		ds = ds & ~BIT(n);
#endif
		write_modes(ds, (cl -> N : t), t, LENT, n + 1);
#endif
#ifdef UNCACHED
		goto looks;
drain:
		skip;
		d_step { ack[n] = 0; cl = 1; j = NN; r = 0 };
looks:
#endif
		/* C2 */
		do
#ifdef BREAK_CLOSE
		:: atomic { j < NN -> j++ }
#endif
		:: atomic { j < NN && !(ds & BIT(j)) -> j++ }
#ifdef BREAK_DOWN
		:: atomic { j < NN && t == S -> j++ }
#endif
		:: atomic { j < NN && (ds & BIT(j)) && !CONFLICT(j, t) -> LOOK_IDLE(j); j++ }
		/* One that intends to read waits for neither sharers nor intents */
		:: atomic { j < NN && c == IS && t == I && (ds & BIT(j)) && !CONFLICT(j, S) -> t = S };
			d_step { new_number() };
			write_modes(ds, t, t, r, n + 1)
#ifdef BREAK_ARM
		:: j < NN && (ds & BIT(j)) && CONFLICT(j, t) -> ack[n] = 0;
#else
		:: atomic { j < NN && (ds & BIT(j)) && CONFLICT(j, t) };
#endif
			/* C3 */
			if
			:: atomic {
				IS_NOW(ack[n]) && ds == BIT(j) ->
#ifdef TAKES
				idle = (ack[n] == NOW_IDLE);
#endif
				ack[n] = 0; j++
			}
#ifdef BREAK_ONCE
			:: atomic { ack[n] -> ack[n] = 0; j++ }
#else
			:: atomic { ack[n] && !(IS_NOW(ack[n]) && ds == BIT(j)) -> ack[n] = 0 }
#endif
			:: atomic { MAY_TIME_OUT -> goto give_up }
#if AHEADS
			/* A3: first no node admits newcomers */
			:: atomic { asks[n] && !cl -> cl = 1; j = 0 };
				d_step { new_number() };
				write_modes(ds, N, t, LENT, n + 1)
			:: atomic {
					asks[n] && cl && (NONE_IN_WAY(I) || (LOOKS_AHEAD && NONE_IN_WAY(S))) ->
					k = (NONE_IN_WAY(I) -> I : S); s = asks[n]
#ifdef BREAK_CLASS
					; k = I
#endif
				};
				d_step {
					s = (s & 1 -> 0 : (s & 2 -> 1 : 2));
					asks[n] = asks[n] & ~BIT(s); new_number();
					dm = k; ds = ds | BIT(s); g = g | BIT(s); r = (r -> k : N)
				};
				d_step {
					write_mode(s, N, t, r, n + 1); ahead[s] = k; s = 0; k = 0; j = 0
				}
#endif
			fi
#if AHEADS
		/* A4: closed to clients ahead, too, and once more C2 */
#ifdef BREAK_REOPEN
		:: atomic { j == NN && g -> g = 0; j = 0; break }
#endif
		:: atomic { j == NN && g -> j = 0 };
			d_step { new_number() };
			write_modes(g, N, t, r, n + 1);
			atomic { g = 0 }
		:: atomic { j == NN && !g && DRAINED -> j = 0; CLOSED; break }
#else
		:: atomic { j == NN && DRAINED -> j = 0; CLOSED; break }
#endif
#ifdef UNCACHED
		/* U5 */
#if AHEADS
		:: atomic { j == NN && !g && !DRAINED };
#else
		:: atomic { j == NN && !DRAINED };
#endif
			if
			/* One that intends to read does not wait for sharers; intents may be in the way
			 * then at nodes where they were not */
			:: atomic { c == IS -> t = S };
				d_step { new_number() };
				write_modes(ds, t, t, r, n + 1);
#ifdef BREAK_ALL
				j = NN;
#endif
				goto again
			:: atomic { c != IS -> waiter = n + 1; s = uncached }
			fi;
			if
			:: atomic { s == 0 -> j = 0 }
			:: atomic { s && ack[n] -> ack[n] = 0; s = 0; j = 0 }
			:: atomic { s && MAY_TIME_OUT -> s = 0; waiter = 0; goto give_up }
			fi;
again:
			skip
#endif
		od;
		if
#ifdef TAKES
		/* S5: nobody is in at the home's node, which may be promised X */
		:: atomic { keep && idle -> t = 0; cl = 0 };
keeps_it:
			if
			:: atomic { LEND -> o = 0; goto enter }
			:: atomic { o = 0; dm = N; ds = 0; goto enter }
			fi
		:: atomic { t != N && !(keep && idle) -> dm = t; t = 0; r = 0; keep = 0; idle = 0 };
#else
		:: atomic { t != N -> dm = t; t = 0; r = 0 };
#endif
			/* S1 */
			if
#ifndef BREAK_SPREAD
			:: cl -> cl = 0; write_modes(ds, dm, N, 0, 0)
#endif
			:: else -> cl = 0
			fi;
			goto join
		:: atomic { else -> dm = (r -> dm : N); ds = (r -> ds : 0); o = 0; cl = 0 }
		fi;
enter:
		/* C4 */
		if
		:: atomic {
				!EXCLUDED -> COUNT; keeps[n] = 1; KEEP_DIR; asker[n] = 0; old[n] = 0; h = 0;
#ifdef BREAK_LEND
				km[n] = 0; kset[n] = 0;
#else
				km[n] = dm; kset[n] = ds;
#endif
				dm = 0; ds = 0; t = 0; r = 0; IN_AS_HEAD; goto cs
			}
		:: atomic { MAY_TIME_OUT -> goto give_up }
		fi;
handed_over:
		/* L1: a client that is not exclusive has W */
		if
		:: atomic { !keeps[n] || IS_TAKEN -> GONE; wr[n] = 0; COUNT; from = 3; goto look }
		:: atomic { keeps[n] && !IS_TAKEN && NEXT_WRITES -> GONE; wr[n] = 0; COUNT; goto cs } /* S3 */
#ifdef TAKES
		:: atomic { keeps[n] && !IS_TAKEN && MAY_KEEP_HANDED -> GONE; wr[n] = 0; COUNT; goto cs }
#endif
		:: atomic {
				keeps[n] && !IS_TAKEN -> FORGET; ds = kset[n]; from = 4;
				dm = (c == S -> S : (c == IS && km[n] == S -> S : I))
			}
		fi;
		write_modes(ds, dm, N, 0, 0);
join:
		/* S4: the home's node has X again, by the directory; or S2: the node shares */
		if
#ifdef BREAK_OWNS
		:: n == HOME && FIRST == X -> dm = X; ds = 0
#else
		:: n == HOME && FIRST == X && !(ds & ~BIT(n)) -> dm = X
#endif
		:: else
		fi;
		write_mode(n, (dm == X -> N : dm), N, 0, 0);
		if
#ifdef BREAK_TURNED
		:: atomic { from == 4 -> FREE_W; COUNT; o = 1 }
#else
		:: atomic { from == 4 -> o = 1 }
#endif
		:: atomic { from == 0 && !EXCLUDED -> COUNT; t = 0; o = 1 }
#if SUMS
		:: atomic { from == 0 && c == S && EXCLUDED -> COUNT };
			atomic { rd[n]--; goto join }
#endif
		fi;
#ifdef BREAK_JOIN
		goto depart;
#endif
		atomic { ds = ds | BIT(n); goto depart };
give_up:
		from = 2;
give_up_promise:
		/* D4: nodes get the modes back that this one, or others, have recalled */
		j = 0;
#ifndef BREAK_RESTORE
		if
		:: atomic { IS_AT_HOME && c == X } /* MODE is N */
		:: atomic { !(IS_AT_HOME && c == X) };
			write_modes(ds, (IS_AT_HOME -> N : dm), N, 0, 0)
		fi;
#endif
#ifdef TAKES
		keep = 0; idle = 0;
#endif
		atomic { o = (ds != 0); dm = (ds -> dm : 0); t = 0; r = 0; cl = 0; NOT_GIVEN };
quit:
		/* D1: the place, or the grant, is the next client's of the node, if one waits */
		if
		:: atomic {
				MORE_WAIT ->
				if
				:: h -> INTO(n); status[n] = GRANTED; NO_DIR; h = 0
				:: else
				fi;
				left[n] = 1; lh[n] = 0; nq[n]--
			};
			if
			:: atomic { lh[n] -> goto gone }
			/* they have all given up: this client is the head again, if there is a place */
			:: atomic { !nq[n] && left[n] -> lh[n] = 1; nq[n]++; left[n] = 0; goto quit }
			:: atomic { !nq[n] && !left[n] -> goto gone }
			fi
		:: atomic { !MORE_WAIT && h -> goto depart }
		:: atomic {
				!MORE_WAIT && !h && IDLE(n) && status[n] == GRANTED ->
				TAKE_GRANT; h = 1;
				if
				:: !o && ds -> goto give_up_promise
				:: else -> goto depart
				fi
			}
		:: atomic {
				!MORE_WAIT && !h && IDLE(n) && status[n] == WAITING ->
				status[n] = ABANDONED; goto without_place
			}
		fi;
#if AHEADS
before:
		/* A1, A2 */
		if
		:: atomic { !handed[n] && (SUMS || ADMITS(n)) -> COUNT };
			if
			:: atomic { ADMITS(n) };
				if
				:: atomic { !EXCLUDED -> goto cs }
				:: atomic { MAY_TIME_OUT -> q = 4; b = 1; goto release }
				fi
			:: atomic { else -> q = 3; b = 1; goto release }
			fi
		:: atomic { ASK(0) -> asks[asker[0] - 1] = asks[asker[0] - 1] | BIT(n); goto before }
		:: atomic { ASK(1) -> asks[asker[1] - 1] = asks[asker[1] - 1] | BIT(n); goto before }
		:: atomic {
				ASK(NN - 1) ->
				asks[asker[NN - 1] - 1] = asks[asker[NN - 1] - 1] | BIT(n); goto before
			}
		/* A5: the head of an empty queue */
		:: atomic {
				!nq[n] && !WRITER(n) && !keeps[n] && !ADMITS(n) ->
				lh[n] = 1; nq[n]++
			};
			if
			:: atomic { left[n] -> left[n] = 0; goto await }
			:: atomic { else -> goto miss }
			fi
		:: MAY_TIME_OUT -> goto out
		fi;
#endif
cs:
		critical(p);
#ifdef UNCACHED
		if :: atomic { w -> was = 1; goto uncount } :: atomic { else } fi;
#endif
release:
#if NP > NN
		/* G: the head grants W to the next client of the node, or leaves its queue first */
		if
		:: atomic {
				y && STAY && nq[n] > 1 ->
#ifdef BREAK_GRANT
				wr[n] = 0;
#endif
				y = 0; lh[n] = 0; nq[n]--; given[n] = 1; goto out
			}
		:: atomic { y -> y = 0; lh[n] = 0; nq[n]-- }
		:: !y
		fi;
#endif
		/* R1. L1: a holder may hand W over to the clients in the queue of its node */
		if
		:: atomic { c == X && keeps[n] && !b -> goto leave }
		:: atomic {
				c == X && (b || !keeps[n]) -> wr[n] = 0;
				if :: keeps[n] && !HOLDERS(n) -> goto finish :: else fi
			}
		:: atomic {
				c != X -> rd[n] = rd[n] - (c == S); COUNT_INTENTS(-1);
				if :: keeps[n] && !HOLDERS(n) -> goto finish :: else fi
			}
		:: c == X && !b && !keeps[n] && STAY && awaited[n] && nq[n] -> goto hand
		fi;
look:
		/* R2 */
#ifdef BREAK_SILENT
		if :: b -> goto done :: else fi;
#endif
		atomic {
			aims[p] = asker[n]; stale[p] = old[n]; t = to[n];
			if :: aims[p] == 0 || !IN_WAY(t) -> NO_ACK; goto done :: else fi
		};
		/* A recall of the home's node has ended when the queue is empty */
		if
#ifdef BREAK_PAST
		:: atomic { n == HOME -> NO_ACK; goto done }
#else
		:: atomic { n == HOME && tail == 0 -> NO_ACK; goto done }
#endif
		:: atomic { n != HOME || tail != 0 }
		fi;
		/* R3 */
		if
#ifdef BREAK_AGAIN
		:: true
#else
		:: atomic { CONFLICT(n, t) -> NO_ACK; goto done }
		:: atomic { !CONFLICT(n, t) -> LOOK_IDLE(n) }
#endif
		fi;
		/* R4 */
#ifdef TAKES
		atomic {
			ACK[aims[p] - 1] = (stale[p] -> OLD : (idle -> NOW_IDLE : NOW)); idle = 0;
			NO_ACK; goto done
		};
#else
		atomic { ACK[aims[p] - 1] = (stale[p] -> OLD : NOW); NO_ACK; goto done };
#endif
finish:
		/* S3: the last sharer of a node that keeps the queue leaves as an exclusive holder does */
#ifdef BREAK_FINISH
		if :: b -> goto done :: else fi;
#endif
		if
		:: atomic { !keeps[n] || HOLDERS(n) -> goto done }
		:: atomic { keeps[n] && !HOLDERS(n) -> wr[n] = 1 }
		fi;
leave:
#ifdef TAKES
		/* T4: whether the queue has been taken over */
		if
#ifdef BREAK_ENDS
		:: atomic { taken[n] -> taken[n] = 0; kept[n] = 1 }
#else
		:: atomic { taken[n] -> taken[n] = 0; status[n] = FREE; FREE_W; from = 1; goto look }
#endif
		:: atomic { !taken[n] };
#ifndef BREAK_CLAIMS
			if
			:: atomic { !takes[POS(n)] }
			:: atomic { takes[POS(n)] };
				if
				:: atomic { kept[n] -> kept[n] = 0; goto settle }
				:: atomic { !kept[n] -> taken[n] = 0; status[n] = FREE; FREE_W; from = 1; goto look }
				fi
			fi
#endif
		fi;
		if
		:: STAY && nq[n] && !INTENT(n) -> goto hand /* L1 */
		:: atomic { kept[n] = 0 }
		fi;
settle:
		if
#else
		/* L: the client has W alone, and its node keeps the queue */
		if
		/* L1 */
		:: STAY && nq[n] && !INTENT(n) -> goto hand
#endif
		/* L2: pass on */
		:: atomic { NEXT != 0 -> o = 0; dm = km[n]; ds = kset[n]; from = 1; goto depart }
		/* L3: give back */
		:: atomic {
				kset[n] != 0 ->
				dm = km[n]; ds = kset[n] | (dm == X -> 0 : BIT(n)); j = 0
			};
			give_back()
		/* L4: cache; what was lent will not come back */
		:: atomic { ds = kset[n]; j = 0 };
			write_modes(ds, N, N, 0, 0);
			if
			:: ds = BIT(n); dm = X
			:: FIRST != N -> ds = BIT(HOME); dm = X
			:: FIRST == N -> ds = 0; dm = N
			fi;
#ifndef BREAK_WRITER
			if
			:: ds && !IS_AT_HOME -> write_mode(n, X, N, 0, 0)
			:: else
			fi
#endif
		fi;
		atomic { o = 1; from = 1 };
depart:
#ifdef BREAK_EARLY
		if :: from == 1 -> d_step { FREE_W } :: else fi;
#endif
#ifdef UNCACHED
		if :: atomic { NEXT == 0 && debt -> uncached = uncached + debt; debt = 0 } :: atomic { else } fi;
#endif
#ifdef POSTED
		/* P1 */
		if
		:: atomic {
				NEXT == 0 ->
				LEAVE_SOME
				NEXT = LEFT; lo[POS(n)] = o; lm[POS(n)] = dm; ls[POS(n)] = ds;
				pleave[POS(n)] = LAST; status[n] = FREE; goto freed
			}
#else
		/* L5 */
		if
		:: atomic { NEXT == 0 && tail == POS(n) + 1 -> LEAVE_SOME PUBLISH; status[n] = FREE; goto freed }
#endif
		:: atomic {
				NEXT != 0 ->
				s = NEXT; status[n] = FREE; USED; from = (from == 4 -> 6 : from)
			}
		fi;
freed:
		if
		:: atomic { from == 1 -> FREE_W }
#ifndef BREAK_TURNED
		:: atomic { from == 4 || from == 6 -> FREE_W; COUNT }
#endif
		:: else
		fi;
		/* L6 */
		do
		:: s == 0 -> break
#ifdef TORN
		:: atomic { s && !busy[NODE(s - 1)] -> busy[NODE(s - 1)] = 1; r = status[NODE(s - 1)] };
			atomic {
				busy[NODE(s - 1)] = 0;
				if
				:: r == WAITING -> GIVE(NODE(s - 1)); INTO(NODE(s - 1)); s = 0; r = 0; break
				:: else -> status[NODE(s - 1)] = PASSING
				fi;
				r = 0
			};
#else
		:: atomic {
			s && status[NODE(s - 1)] == WAITING ->
			GIVE(NODE(s - 1)); INTO(NODE(s - 1)); s = 0; break
		}
		:: atomic { s && status[NODE(s - 1)] == ABANDONED -> status[NODE(s - 1)] = PASSING };
#endif
			/* D3 */
#ifdef BREAK_PLACE
			status[NODE(s - 1)] = PASSED;
#endif
#ifndef BREAK_LAST
			/* What is lent is given back before the queue is left. */
			if
			:: atomic { next[s - 1] == 0 && !o && ds -> o = 1; j = 0 };
				give_back()
			:: else
			fi;
#endif
#ifdef UNCACHED
			if :: atomic { next[s - 1] == 0 && debt -> PAY } :: atomic { else } fi;
#endif
			if
			:: atomic { next[s - 1] != 0 -> r = next[s - 1] }
#ifdef BREAK_TAIL
			:: atomic { next[s - 1] == 0 && tail == s -> NO_DIR; PUBLISH }
#else
			:: atomic { next[s - 1] == 0 && tail == s -> PUBLISH }
#endif
			fi;
			atomic { status[NODE(s - 1)] = PASSED; s = r; r = 0 }
		od;
#ifdef BREAK_WRITER
		if
		:: from == 1 && dm == X && ds == BIT(n) && !IS_AT_HOME && o -> write_mode(n, X, N, 0, 0)
		:: else
		fi;
#endif
		if
#ifdef BREAK_FLUSHED
		:: atomic { from == 0 && w -> uncached++; NO_DIR; h = 0; NO_HEAD; goto cs }
		:: atomic { from == 0 && !w -> NO_DIR; h = 0; NO_HEAD; goto cs }
#else
		:: atomic { from == 0 -> NO_DIR; h = 0; NO_HEAD; goto cs }
#endif
		:: atomic { from == 6 -> from = 0; NO_DIR; GONE; goto cs }
#ifdef TAKES
		:: atomic { from == 7 -> from = 0; NO_DIR; goto await }
#endif
		/* A node that has swapped TAIL since may have found WRITER. */
#ifdef BREAK_SHOWN
		:: atomic { from == 4 -> from = 0; NO_DIR; GONE; goto cs }
#else
		:: atomic { from == 4 -> from = 3; NO_DIR; GONE; goto look }
#endif
		:: atomic { from == 2 || from == 5 -> NO_DIR; h = 0; goto without_place }
#ifdef BREAK_LATE
		:: atomic { from == 1 -> from = 0; NO_DIR; goto done }
#else
		:: atomic { from == 1 -> NO_DIR; goto look }
#endif
		fi;
		goto done;
without_place:
		if
		:: atomic { from == 2 -> from = 0; lh[n] = 0; goto emptied }
		:: atomic { from == 5 -> from = 0; NO_HEAD; goto cs }
		fi;
gone:
		if
		:: atomic { from == 2 -> from = 0; goto out }
		:: atomic { from == 5 -> from = 0; goto cs }
		fi;
hand:
		/* L1, and whether a client is there still */
		if
#ifndef BREAK_AWAITED
		:: atomic { !keeps[n] && !awaited[n] -> wr[n] = 0; goto look }
		:: atomic { (keeps[n] || awaited[n]) && !INTENT(n) -> wr[n] = 0; handed[n] = 1 }
#else
		:: atomic { !INTENT(n) -> wr[n] = 0; handed[n] = 1 }
#endif
		:: atomic { !keeps[n] && awaited[n] && INTENT(n) -> wr[n] = 0; goto look }
		:: atomic { keeps[n] && INTENT(n) -> goto leave }
		fi;
#ifdef BREAK_NOBODY
		goto done;
#endif
		if
		:: nq[n] || !handed[n] -> goto done
		:: atomic { !nq[n] && handed[n] -> handed[n] = 0; wr[n] = 1 }
		fi;
		if :: keeps[n] -> goto leave :: else -> goto release fi;
done:
		if
		:: atomic { from == 3 -> from = 0; goto cs }
		:: atomic { b && q == 1 -> b = 0; goto head }
		:: atomic { b && q == 2 -> b = 0; q = 0; goto await }
		:: atomic { b && q == 5 -> b = 0; q = 0; goto head }
#if AHEADS
		:: atomic { b && q == 3 -> b = 0; q = 0; goto before }
#endif
		:: atomic { b && q == 4 -> b = 0; q = 0; goto out }
		:: atomic { b && q == 6 && !handed[n] -> b = 0; q = 0; lh[n] = 0; goto emptied }
		:: atomic { b && q == 6 && handed[n] -> b = 0; q = 0; goto head }
		:: atomic { b && q == 0 -> b = 0; goto slow }
		:: else
		fi;
		goto out;
emptied:
		/* L1: a client that leaves the queue of its node without W */
		atomic { q = 0; nq[n]--; if :: nq[n] -> goto out :: else fi };
#ifndef BREAK_HANDED
		if
		:: atomic { handed[n] -> handed[n] = 0; wr[n] = 1; c = X; goto release }
		:: else
		fi;
#endif
out:
		c = 0; u = 0; z = 0;
#ifdef EXCLUDES
		as = 0
#endif
#ifdef MEET
	:: WRITES || once -> break
#else
	:: break
#endif
	od;
	alive--
}

#ifdef POSTED
#define LEAVE(i) \
	pleave[i] = 0; \
	if \
	:: tail == i + 1 -> \
		tail = 0; open = lo[i]; m = lm[i]; set = ls[i]; \
		next[i] = 0; lo[i] = 0; lm[i] = 0; ls[i] = 0 \
	:: else \
	fi

/* What releases have left on its way, to or from node _pid. */
active [NN] proctype Posts()
{
end:
	do
	:: atomic { pack[_pid] -> ack[_pid] = pack[_pid]; pack[_pid] = 0 }
	:: atomic { pgrant[_pid] -> pgrant[_pid] = 0; status[_pid] = GRANTED }
	:: atomic { pleave[_pid] -> LEAVE(_pid) }
	:: atomic { pleave[_pid + NN] -> LEAVE(_pid + NN) }
	od
}
#endif

init
{
	byte i;

	atomic { for (i : 0 .. NP - 1) { run P(i) } i = 0 };
	alive == 0;
#ifdef POSTED
	SETTLED(0) && SETTLED(1) && SETTLED(NN - 1);
#endif
#ifdef UNCACHED
	assert(!uncached && !waiter && !debt);
#endif
	assert(tail == 0);
	for (i : 0 .. NN - 1) {
#ifdef TAKES
		assert(!kept[i] && !taken[i]);
#endif
		assert(!left[i] && !given[i] && !HOLDERS(i) && !keeps[i] && !nq[i] && !awaited[i] && !lh[i] && !back[i]);
		assert(mode[i] == N || (open && (set & BIT(i)) && mode[i] == m));
		assert(!open || !(set & BIT(i)) || UNWRITTEN(i) || mode[i] == m ||
		       (i == HOME && mode[i] == N));
		assert(i != HOME || mode[i] != X)
	}
}
