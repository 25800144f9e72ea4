/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deliberate mistakes, which the tests have to find. FAULT(name) is false in the library. The tests
 * link a build of the protocols and the client layer (PAWL_FAULTS, tests/faults/faults.c) in which
 * it is true while that fault is switched on.
 *
 * Users name a fault with hyphens: rma_rw_drain is rma-rw-drain.
 */
#ifndef LOCK_FAULT_H
#define LOCK_FAULT_H

/* Limits: how often an attempt is repeated that other clients can disturb, or how much of something
 * there is before a kind goes another way. In the build for the tests they are few, so that the
 * adversary gets to what follows; in some of its worlds they are as in the library. SIZE_OR() is
 * one of the size of the table. */
#ifndef PAWL_FAULTS
#define ATTEMPTS_OR(n, few) (n)
#define SIZE_OR(n, few) (n)
#else
enum limits { LIMITS_FEW, LIMITS_SIZES_AS_BUILT, LIMITS_AS_BUILT };
extern enum limits fault_limits;
#define ATTEMPTS_OR(n, few) (fault_limits == LIMITS_AS_BUILT ? (n) : (few))
#define SIZE_OR(n, few) (fault_limits == LIMITS_FEW ? (few) : (n))
#endif

#ifndef PAWL_FAULTS
#define FAULT(name) false
#else

/* name, kinds of lock in which the mistake shows, mistake */
/* clang-format off */
#define FAULTS(X) \
	X(d_mcs_wait, "d-mcs", \
	  "once in a hundred contended acquires a client does not wait for the grant") \
	X(d_mcs_link, "d-mcs", "waits without having flushed the link to the predecessor") \
	X(d_mcs_grant, "d-mcs", "a release returns without having flushed the grant") \
	X(d_mcs_abandon, "d-mcs", \
	  "abandons a place by a look and a put: a grant in between is lost") \
	X(d_mcs_passed, "d-mcs", \
	  "a queue node is used again while its abandoned place is in the queue") \
	X(d_mcs_early, "d-mcs", "marks a node as passed over before it has read its NEXT") \
	X(d_mcs_answer, "d-mcs,alock", \
	  "a queue node is used again before the swap that empties the queue is done") \
	X(d_mcs_settled, "d-mcs,alock", \
	  "a queue node is used again before a successor has found that it left") \
	X(d_mcs_swap, "d-mcs,alock", \
	  "looks for a successor and then marks its node as left, not in one swap") \
	X(cached_order, "adaptive", "(H) looks at MODE before it counts itself in W, and not after it") \
	X(cached_close, "adaptive", "(C) the closing of MODE is not flushed before the look at W") \
	X(cached_home, "adaptive", "(C) W of the home's node is looked at before the swap of TAIL") \
	X(cached_first, "adaptive", "(F) a head does not look at the vote after its swap of TAIL") \
	X(cached_untold, "adaptive", "(F) what is not decided is taken for a lock that nobody has") \
	X(cached_decided, "adaptive", "(F) nodes that may have S by the decision are not recalled") \
	X(cached_own, "adaptive", "(C) the own node is not recalled") \
	X(cached_arm, "adaptive", "(C) ACK is reset after a look at W that found a holder") \
	X(cached_once, "adaptive", "(C) an acknowledgement of an earlier recall counts") \
	X(cached_again, "adaptive", "(R) acknowledges a recall without a second look at W") \
	X(cached_stale, "adaptive", "(R) the home's node takes each recall for one that has ended") \
	X(cached_down, "adaptive", "(C) a recall to S does not wait for an exclusive holder") \
	X(cached_silent, "adaptive", "(R) a count that is taken back does not acknowledge") \
	X(cached_late, "adaptive", "(L) a node that leaves the queue does not look at MODE again") \
	X(cached_early, "adaptive", "(L) W becomes free before the queue is left") \
	X(cached_promise, "adaptive", "(L) what has been promised is not taken back") \
	X(cached_join, "adaptive", "(S) a sharer is not in the directory") \
	X(cached_lend, "adaptive", "(B) what has been lent is forgotten") \
	X(cached_last, "adaptive", "(D) the queue becomes empty, and what was lent is not given back") \
	X(cached_tail, "adaptive", "(D) an abandoned place that is last is removed without the directory") \
	X(cached_place, "adaptive", "(D) a place is passed over before its NEXT is read") \
	X(cached_resume, "adaptive", "(D) a place is resumed by a store") \
	X(cached_restore, "adaptive", "(D) a recall that is given up is not undone") \
	X(cached_across, "adaptive", "(C) a node admits sharers while others still have intents") \
	X(cached_beside, "adaptive", "(A) intents ahead are admitted beside any holder") \
	X(cached_reopen, "adaptive", "(A) a recall ends while clients ahead are admitted") \
	X(cached_left, "adaptive", "(P) a node that has left uses its place at once") \
	X(cached_intent, "adaptive", "a client that runs out of time for a part keeps the whole") \
	X(cached_handed, "adaptive", "(D) the head of a node gives up although it has been handed W") \
	X(cached_awaited, "adaptive", "(L) hands W over although the head has ceased to wait for it") \
	X(cached_granted, "adaptive", "(G) W becomes free although it is granted with the queue") \
	X(cached_alone, "adaptive", "(G) the granted W is taken for the own count of a sharer") \
	X(cached_finish, "adaptive", "(S) the last sharer of a node that keeps the queue stays in it") \
	X(cached_turned, "adaptive", "(L) W becomes a sharer's before the queue is left") \
	X(cached_shown, "adaptive", "(L) W becomes a sharer's, and it does not look at MODE again") \
	X(cached_owns, "adaptive", "(S) a sharer at home owns the lock, though others share it") \
	X(cached_glance, "adaptive", "(T) takes the queue over without a second look at W") \
	X(cached_claims, "adaptive", \
	  "(T) a node leaves the queue without a look whether it is being taken over") \
	X(cached_taken, "adaptive", "(T) a node from which the queue is taken over is not in the directory") \
	X(cached_ends, "adaptive", "(T) a holder takes a queue that has been taken over for its own") \
	X(cached_idle, "adaptive", "(S) a sharer keeps the queue although the owner has sharers") \
	X(cached_notes, "adaptive", "(D) two clients change NOTES at once, by stores") \
	X(cached_drain, "adaptive", "(U) a head does not wait for uncached sharers") \
	X(cached_owner, "adaptive", "(U) a writer of the home's node does not look at UNCACHED") \
	X(cached_counted, "adaptive", "(U) a sharer looks at TAIL and W before it counts itself in UNCACHED") \
	X(cached_before, "adaptive", \
	  "(U) a sharer gets W before TAIL, to which it gives SOME, and not after it") \
	X(cached_opens, "adaptive", "(U) a head leaves SOME where another node has X") \
	X(cached_remains, "adaptive", "(U) a head that is not in does not take its count back") \
	X(cached_opened, "adaptive", \
	  "(U) a sharer that has not been told takes TAIL that is 0 for SOME") \
	X(cached_all, "adaptive", "(C) a recall to I that goes on to S does not look at all nodes again") \
	X(cached_owes, "adaptive", "(U) an uncached sharer forgets those that came with its grant") \
	X(cached_pays, "adaptive", "(U) a head does not count the sharers that came with its grant") \
	X(cached_flushed, "adaptive", "(U) a head grants the lock before its count in UNCACHED is flushed") \
	X(cached_told, "adaptive", "(U) the last uncached sharer does not tell the head") \
	X(cached_writer, "adaptive", "(E) a sharer that has acquired exclusively releases as a sharer") \
	X(cached_nobody, "adaptive", "(L) hands W over without a second look whether a client is there") \
	X(rma_mcs_number, "rma-mcs", "stays of an element at the root have no numbers") \
	X(rma_mcs_link, "rma-mcs", \
	  "waits behind an element at the root without a look whether it has left") \
	X(rma_mcs_swap, "rma-mcs", \
	  "looks for a successor at the root and then marks its stay as ended, not in one swap") \
	X(rma_mcs_try, "rma-mcs", \
	  "a try takes the place of the last element at the root without a look whether it has left") \
	X(rma_mcs_done, "rma-mcs", \
	  "an element enters a queue again while its withdrawn place is in it") \
	X(rma_rw_drain, "rma-rw", "writers do not wait for the readers inside") \
	X(rma_rw_close, "rma-rw", "writers do not flush the closing of a gate counter") \
	X(rma_rw_look, "rma-rw", \
	  "writers do not look for readers that an undone closing has left inside") \
	X(rma_rw_round, "rma-rw", \
	  "gates of ticket counters count modulo 4, however many closings are undone") \
	X(rma_rw_withdraw, "rma-rw", \
	  "readers that give up count as readers that entered and left") \
	X(mgl_second, "mgl", "a second sharer that would be exclusive waits for the first one") \
	X(mgl_upgrade, "mgl", "becomes exclusive by a sum after its last look at other holders") \
	X(mgl_downgrade, "mgl", "an exclusive holder that goes on to share is none in between") \
	X(mgl_drain, "mgl", \
	  "an exclusive client at the head of the queue does not wait for holders") \
	X(mgl_readers, "mgl", \
	  "an exclusive client at the head of the queue does not wait for intents shared") \
	X(mgl_enter, "mgl", "an intent shared enters beside an exclusive holder") \
	X(mgl_give_up, "mgl", \
	  "a client whose deadline passes at the head hands the lock on as a holder") \
	X(mgl_part, "mgl", \
	  "the last client of a joint intent releases it before it has left its node's word") \
	X(mgl_last, "mgl", \
	  "the last client of a joint intent keeps it when its deadline passes") \
	X(mgl_intent, "mgl", "a client that runs out of time for a part keeps the whole") \
	X(mgl_inside, "mgl", \
	  "a client that has queued at its node ends as if it had changed nothing") \
	X(shiftlock_drain, "shiftlock", "writers do not wait for the readers before them") \
	X(shiftlock_owed, "shiftlock", \
	  "the last writer of a row takes those that it subtracts for others that wait") \
	X(shiftlock_sum, "shiftlock", "the last writer of a row subtracts itself only") \
	X(shiftlock_link, "shiftlock", "waits without having flushed the link to the predecessor") \
	X(shiftlock_era, "shiftlock", "resets the words of a lock in place after a failure") \
	X(shiftlock_late, "shiftlock", "accepts a grant or a turn, however late it sees it") \
	X(shiftlock_unmoved, "shiftlock", \
	  "accepts a grant though it has not seen REL change since it queued up") \
	X(shiftlock_moved, "shiftlock", \
	  "accepts a grant because of a change of REL, however long ago it was") \
	X(shiftlock_rel, "shiftlock", \
	  "a grant within a row has REL as it was before the releaser changed it") \
	X(shiftlock_blind, "shiftlock", \
	  "a hand-over within a row does not look whether the block is dead") \
	X(shiftlock_number, "shiftlock", \
	  "links and grants do not say for which queueing they are meant") \
	X(shiftlock_told, "shiftlock", \
	  "looks whether it is told of a recovery after its last look at the clock") \
	X(shiftlock_return, "shiftlock", "an acquire returns without a look at the clock") \
	X(shiftlock_absent, "shiftlock", \
	  "a writer that leaves before readers have left lets blocked readers in") \
	X(shiftlock_early, "shiftlock", \
	  "marks a place as passed over before it has read its successor") \
	X(shiftlock_last, "shiftlock", "no reader releases for a writer that is absent") \
	X(shiftlock_withdraw, "shiftlock", "a reader takes its count back although it was let in") \
	X(alock_alone, "alock", "leaders do not look for the other cohort") \
	X(alock_look, "alock", "looks for the other cohort before it has announced itself") \
	X(alock_victim, "alock", "waits for its turn without having flushed VICTIM") \
	X(alock_budget, "alock", "cohorts do not give way when their budget is over") \
	X(alock_stay, "alock", "a leader whose deadline passes leaves its queue node where it is") \
	X(alock_left, "alock", \
	  "a client whose predecessor has left does not look for the other cohort") \
	X(alock_stand_down, "alock", \
	  "a leader that gives up does not wait until its successor has found that it left") \
	X(declock_drain, "declock", "an exclusive client enters beside shared ones") \
	X(declock_link, "declock", "waits without having flushed its entry") \
	X(declock_mark, "declock", "an exclusive client does not look for the mark of its turn") \
	X(declock_turn, "declock", \
	  "a shared client that leaves does not mark an entry that is not written yet") \
	X(declock_round, "declock", "takes the entry of an earlier round of the ring for this one") \
	X(declock_overdue, "declock", \
	  "does not grant to a shared client whose entry it replaces") \
	X(declock_late, "declock", \
	  "a shared client writes its entry over that of a client behind it") \
	X(declock_sweep, "declock", "sweeps away what is older than its own round of the ring") \
	X(declock_sharers, "declock", "lets in only the first shared clients behind it") \
	X(declock_abandoned, "declock", \
	  "an exclusive client whose deadline has passed keeps the lock that it is granted") \
	X(farlock_alone, "farlock", "leaders do not look for the other cohort") \
	X(farlock_look, "farlock", "looks for the other cohort before it has announced itself") \
	X(farlock_victim, "farlock", "waits for its turn to draw without having flushed VICTIM") \
	X(farlock_early, "farlock", \
	  "looks at the last ticket together with the look for the other cohort") \
	X(farlock_drawn, "farlock", "leaves the drawing without having ordered its ticket before") \
	X(farlock_home, "farlock", "makes another client the leader without having flushed its ticket") \
	X(farlock_unmarked, "farlock", "looks again for the last client before it has drawn") \
	X(farlock_again, "farlock", "does not look again whether the last client has left") \
	X(farlock_mark, "farlock", "does not say that it has found the lock free") \
	X(farlock_link, "farlock", "waits without having flushed the link to the client before it") \
	X(farlock_left, "farlock", "a holder looks at the last ticket before it has left") \
	X(farlock_grant, "farlock", "a release returns without having flushed the grant") \
	X(farlock_swap, "farlock", \
	  "looks for a successor and then marks its node as left, not in one swap") \
	X(farlock_arrive, "farlock", \
	  "a client that finds that the one before it has left does not wait until LEFT has arrived") \
	X(farlock_settled, "farlock", \
	  "a queue node is used again before it is known that no client links itself to it") \
	X(declock_version, "declock", "an exclusive client leaves without a new version") \
	X(declock_carry, "declock", "a version that wraps carries into the number of clients") \
	X(declock_writer, "declock", "a read is valid although an exclusive client is in") \
	X(declock_upgrade, "declock", "a sharer is exclusive beside others that share") \
	X(declock_second, "declock", "a second sharer that would be exclusive waits for the first") \
	X(declock_downgrade, "declock", \
	  "an exclusive client that goes on to share does not let in those that wait") \
	X(declock_stay, "declock", "the same client keeps its position although no other one waits") \
	X(declock_rounds, "declock", \
	  "a read is valid however many clients have left since it began") \
	X(adaptive_strict, "adaptive", "takes a free lock although it is kept for a waiter") \
	X(adaptive_found, "adaptive", "a sharer that counts itself does not look what it found") \
	X(adaptive_kept, "adaptive", \
	  "frees the lock and keeps its place in the queue of its node") \
	X(adaptive_handed, "adaptive", \
	  "hands the lock to a client of its node whose deadline has passed") \
	X(adaptive_package, "adaptive", \
	  "a client that gives up at its node remains the first one of its package") \
	X(adaptive_heir, "adaptive", \
	  "hands the lock on in its package and forgets who is next at the node") \
	X(adaptive_change, "adaptive", \
	  "a client in another mode that is handed the lock does not end the exclusive hold") \
	X(adaptive_unseen, "adaptive", \
	  "hands the lock on at its node without a look whether others wait for it") \
	X(adaptive_readers, "adaptive", "an exclusive client does not wait for intents shared") \
	X(adaptive_intent, "adaptive", \
	  "a client that runs out of time for a part keeps the whole") \
	X(adaptive_beside, "adaptive", "an intent shared enters beside an exclusive holder") \
	X(citron_drain, "citron", "clients at inner nodes do not wait for clients below") \
	X(citron_leaves, "citron", "clients at inner nodes do not wait for those that have leaves") \
	X(citron_stripe, "citron", \
	  "clients at inner nodes look at the announcements of an eighth of the clients") \
	X(citron_queue, "citron", "does not end its turn in a queue") \
	X(citron_place, "citron", "ends its turn in two steps where the places of a queue wrap") \
	X(citron_again, "citron", "looks above before it asks again for bits") \
	X(citron_claim, "citron", "asks for bits for ever, and keeps those that it has") \
	X(citron_common, "citron", \
	  "waits at nodes above one that it holds, as the paper has it: deadlock") \
	X(citron_look, "citron", \
	  "the fast path looks above together with its announcements, not after them") \
	X(citron_bits, "citron", "takes back the bits of others with its own") \
	X(citron_keep, "citron", "keeps the bits that it has set where others are in the way") \
	X(citron_raised, "citron", "looks below without having flushed RAISED and OCC") \
	X(citron_count, "citron", \
	  "clients at inner nodes count in RAISED after they looked below") \
	X(citron_shut, "citron", "does not see that the root has moved") \
	X(citron_old, "citron", \
	  "clients above an old root do not wait for clients that took it for the root") \
	X(citron_spill, "citron", \
	  "does not look where the root is when it has the units behind the tree") \
	X(citron_late, "citron", "keeps what it has acquired, however long ago it looked at the root") \
	X(citron_clock, "citron",                                                                  \
	  "a release asks whether the holder was given up only if its clock says that it is late") \
	X(citron_stale, "citron", \
	  "looks at the root a second time, without a check how long that took") \
	X(citron_wait, "citron", "recovers without waiting for leases to run out") \
	X(citron_suspect, "citron", "recovers even if other clients moved while it watched a frozen space") \
	X(citron_era, "citron", \
	  "opens a frozen space in the previous era, so that TOP has a value twice") \
	X(citron_copy, "citron", "recovers to a copy that was used before") \
	X(citron_vain, "citron", "keeps a spare copy that it took in vain") \
	X(dslr_readers, "dslr", "writers do not wait for the readers before them") \
	X(dslr_carry, "dslr,ss", \
	  "a writer does not clear the guard that it finds set by a release") \
	X(mcs_printed_swap, "mcs-printed", "takes a swap of the tail that failed for one that succeeded") \
	X(rma_rw_entry_drain, "rma-rw-entry", \
	  "a writer that has set its mark does not wait for the readers that came before it") \
	X(rma_rw_entry_reset, "rma-rw-entry", "a reader resets the counts by what it has read before") \
	X(drtm_lease, "drtm", "writers do not wait for the end of the readers' lease") \
	X(drtm_clock, "drtm", "writers trust their clock, where clocks differ") \
	X(ss_last, "ss", "the last of several segments is not locked") \
	X(lld_wait, "lld", "once in 16 acquires passes over a range that overlaps") \
	X(lld_look, "lld", "does not look again at the link behind its current node") \
	X(lld_link, "lld", "links a node without having flushed the node's own link") \
	X(it_most, "it", "the interval tree forgets what is on its right") \
	X(d_mcs_many, "d-mcs", "looks at the answers of several tries without a flush") \
	X(few_once, "d-mcs", \
	  "a swap by compare-and-swap that finds another value is not repeated") \
	X(life_untold, "shiftlock,citron", "an acquire after a recovery does not say so") \
	X(life_any, "shiftlock,citron", "takes the repair after one recovery for that of a later one") \
	X(life_term, "shiftlock,citron", "numbers of holders do not depend on recoveries") \
	X(client_many, "d-mcs,cas-backoff,cas-spin", \
	  "a client that waits for one of several locks keeps those behind it") \
	X(client_many_refused, "d-mcs,cas-backoff", \
	  "a call for several locks that fails does not release what it acquired") \
	X(client_request, "d-mcs,alock,rma-mcs", \
	  "the second look of a request takes the lock, whoever has it") \
	X(client_request_kept, "d-mcs,rma-mcs,mgl", \
	  "a cancelled request keeps a lock that it got before the cancel") \
	X(client_request_lost, "d-mcs,alock,rma-mcs", \
	  "a cancelled request gives its slot back, and stays in the queue") \
	X(client_left, "d-mcs", "a slot is free before it has settled") \
	X(client_own, "mgl,ss", "a try takes a posted release of its process for a holder") \
	X(client_queued, "d-mcs,alock", "a slot is free while its place is in the queue") \
	X(client_abandoned, "shiftlock,citron,dslr", "the slot of a forgotten lock is free at once") \
	X(client_lost, "d-mcs", "a slot is free after a rank died") \
	X(client_held, "ss", "ranges of one client may overlap") \
	X(client_settle, "d-mcs,mgl,citron,ss,dslr,farlock", \
	  "the end does not wait for posted operations") \
	X(client_ending, "d-mcs,farlock", "a request that its thread has left is still the thread's") \
	X(client_mpi, "d-mcs,cas-spin,ss", "an error of the MPI goes unnoticed") \
	X(client_unreached, "d-mcs", "a call whose home cannot be reached loses its slot") \
	X(client_guard, "d-mcs,lld", "a failed operation goes unnoticed") \
	X(client_name_swap, "(tests/sim/names)", \
	  "a client takes its word of a name for the first one") \
	X(client_name_end, "(tests/sim/names)", "names do not have their ends") \
	X(event_late, "(tests/sim/events)", \
	  "(A) a client joins the queue of a condition after it has released the lock") \
	X(event_head, "(tests/sim/events)", "a client that is woken stays in the queue") \
	X(semaphore_grants, "(tests/sim/events)", \
	  "(B) a permit that is owed is not taken before the queue is joined") \
	X(semaphore_woken, "(tests/sim/events)", \
	  "(C) a client that gives up does not look whether it was woken")
/* clang-format on */

#define FAULT_ENUM(name, kinds, what) FAULT_##name,
enum fault { FAULT_NONE, FAULTS(FAULT_ENUM) FAULT_COUNT };
#undef FAULT_ENUM

extern enum fault fault_on;

#define FAULT(name) (fault_on == FAULT_##name)

#endif
#endif
