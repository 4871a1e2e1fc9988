/** Records: the read door, the write door, and what the change log is used for. */

export type { LogFilter, LoggedItem } from './activity/index.ts'
export { BASE_EXPORT_JOB, EXPORT_JOB, VISITOR } from './export/index.ts'
export {
  type FeedBatch,
  type FeedConsumer,
  type FeedCursor,
  type FeedEntry,
  type FeedRecord,
  type FeedTable,
  pageOfEntry,
  type RecordState,
  statesAround,
  type Touch,
} from './feed/index.ts'
export { type LogMoment, momentIn } from './history/index.ts'
export {
  AUTOMATIC_INDEXES,
  type AutomaticIndexes,
  EXPRESSION_PREFIX,
  indexedValue,
  indexSql,
  isIndexable,
  type ObservedRead,
  type ReadContext,
  type RecordVersion,
  referenceKey,
  unindexedFormula,
} from './read/index.ts'
export {
  createRestReads,
  createRestRows,
  fileAnswer,
  HOOK_COUNT,
  openapiRest,
  presentStarter,
  type RestRow,
  recordsRest,
} from './rest/index.ts'
export { recordsRouter } from './router.ts'
export { RAW_PREFIX } from './rows/index.ts'
export { createRecordsService, type RecordsService } from './service.ts'
export { createStarter } from './starter/index.ts'
export { idOfKey, isForeign, keyFieldsOf, parseRecordId, type StoredRecord, storedId } from './table/index.ts'
export type { SharedForm } from './write/index.ts'
