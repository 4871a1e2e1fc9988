/** The read door: plans a query and runs it, without the fields and records that the reader may not see. */

export { createBaseContents } from './base-contents.ts'
export { createBaseSearch, MAX_PER_TABLE } from './base-search.ts'
export { isSearchable, refuseFaulty, searchCondition } from './expression/conditions.ts'
export { unindexedFormula } from './expression/formula.ts'
export { fragmentsOf } from './expression/fragments.ts'
export { stepOf } from './expression/path.ts'
export { type Models, type ReadContext, wholeOf } from './expression/scope.ts'
export { type CombinationQuery, planCombinations } from './groups/combinations.ts'
export { listGroups } from './groups/list-groups.ts'
export { EXPRESSION_PREFIX, indexedValue, indexSql, isIndexable } from './index-terms.ts'
export { createLogFollower } from './log-follower.ts'
export { MAX_NESTED, type NestedRequest, nestedQuery, OWNER } from './nested.ts'
export {
  type Opened,
  type PagePlan,
  type PageQuery,
  select,
  takeRecordKey,
  wantedFields,
} from './plan.ts'
export { compiled } from './plan-cache.ts'
export { createFormulaPreview, MAX_PREVIEW } from './preview-formula.ts'
export {
  AUTOMATIC_INDEXES,
  type AutomaticIndexes,
  createReader,
  type ObservedRead,
  type Reader,
} from './read.ts'
export { createRecordTitles, recordNames, referenceKey } from './record-titles.ts'
export { createResultCache, type ResultCache, type TouchRecords } from './result-cache.ts'
export { createRowCounts, type RowCounts } from './row-counts.ts'
export { createSearchIndexes } from './search-index.ts'
export { type RecordVersion, storedFields } from './versions.ts'
export { createFormerPeople, createVisitorReads } from './visitors.ts'
