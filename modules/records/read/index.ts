export { expressionOf, rootScope } from './expression/expression-of.ts'
export type { Form } from './expression/scope.ts'
export { valueStorage } from './expression/scope.ts'
export { createFormerPeople } from './former-people.ts'
export {
  boundCondition,
  type Opened,
  type PagePlan,
  type PageQuery,
  type PlanContext,
  requireField,
  select,
  wantedFields,
} from './plan.ts'
/**
 * The read door: plans a query and runs it. Records, counts, groups and summaries, with what the reader may not
 * see left out.
 */

export { createBaseContents } from './base-contents.ts'
export { cellText } from './cell-text.ts'
export { conditionIn, isSearchable, refuseFaulty, searchCondition } from './expression/conditions.ts'
export { fragmentsOf } from './expression/fragments.ts'
export { follow, stepOf } from './expression/path.ts'
export { type Models, type ReadContext, tableIn, wholeOf } from './expression/scope.ts'
export { createFindByName } from './find-by-name.ts'
export { listGroups } from './groups/list-groups.ts'
export { groupForm, takeRecordKey, titledForm } from './output.ts'
export { createFormulaPreview, MAX_PREVIEW } from './preview-formula.ts'
export { createReader, createRowCounts, type Reader, type RowCounts } from './read.ts'
export { summarize } from './summaries.ts'
export { createVisitorReads } from './visitors.ts'
