import type { Actor } from '../../../src/core/actor.ts'
import type { Problem } from '../../../src/core/formula/index.ts'
import type { FieldResult, RecordPage } from '../../../src/core/model.ts'
import type { Query } from '../../../src/core/query.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import type { Opened } from './plan.ts'
import type { Reader } from './read.ts'

/** Records in a preview by default. */
const FEW = 5
/** Limit of records in one preview. */
export const MAX_PREVIEW = 100

/** An unsaved formula, and the records to try it on. */
interface PreviewRequest {
  tableId: string
  formula: string
  /** The field that already has the formula. */
  fieldId?: string
  /** A view whose records are shown in its order. */
  viewId?: string
  recordIds?: Query['recordIds']
  limit?: number
  timeZone?: string
}

/** Values of the display field and of the formula for each record. */
export type FormulaPreview =
  | { ok: true; result: FieldResult; page: RecordPage }
  | { ok: false; problems: Problem[] }

/** Evaluates an unsaved formula on real records; nothing is stored. */
export function createFormulaPreview(reader: Reader, schema: Pick<SchemaReader, 'draftFormula'>) {
  /** @throws TABLE_NOT_FOUND, VIEW_NOT_FOUND, FIELD_NOT_FOUND; PERMISSION_DENIED for who may not make fields */
  return async function previewFormula(
    actor: Actor,
    { formula, fieldId, recordIds, limit = FEW, ...where }: PreviewRequest,
  ): Promise<FormulaPreview> {
    const { tableId, viewId, timeZone } = where
    const opened = await reader.open(actor, tableId, viewId, timeZone)
    const drafted = await schema.draftFormula(actor, { tableId, formula, ...(fieldId && { fieldId }) })
    if (!drafted.ok) return drafted
    const { field } = drafted
    const fields = [opened.model.displayField, field]
    const query = { ...where, ...(recordIds && { recordIds }), limit, offset: 0 }
    const { ids, rows } = await reader.page(withField(opened, field), query, fields)
    const page = { fieldIds: fields.map(({ id }) => id), ids, rows, offset: 0 }
    // A valid field has a result.
    return field.result ? { ok: true, result: field.result, page } : { ok: false, problems: [] }
  }
}

/** The table with one more field. A new model, so nothing of it stays in the caches. */
function withField({ engine, model, context }: Opened, field: TableModel['displayField']): Opened {
  const drafted: TableModel = {
    ...model,
    fields: [...model.fields, field],
    field: (id) => (id === field.id ? field : model.field(id)),
  }
  const models = new Map(context.models).set(model.table.id, drafted)
  return { engine, model: drafted, context: { ...context, model: drafted, models } }
}
