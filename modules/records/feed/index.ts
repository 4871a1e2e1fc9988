/**
 * The feed: passes the entries of the change logs to consumers outside this module, such as webhooks and notifications,
 * so that each takes every entry, in order, whatever is killed meanwhile.
 */

export { createFeed, type Feed, type FeedBatch, type FeedConsumer, type FeedEntry } from './feed.ts'
export { type FeedCursor, type FeedRecord, type FeedTable, pageOfEntry, tablesOfEntry } from './records.ts'
export { type RecordState, statesAround, type Touch } from './states.ts'
