import { type Actor, actorIdOf } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isForeignKey, numbersRecords } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  type FieldPosition,
  foreignSourceOf,
  openField,
  type PlannedScript,
  type SchemaContext,
  type ScriptContext,
  type ScriptFollower,
} from '../change/index.ts'
import {
  fieldWithNewIds,
  getField,
  openTableSlots,
  type StoredField,
  type TableModel,
  uniqueTitle,
} from '../model/index.ts'
import { createCopyDraft } from './draft.ts'
import {
  copyJunctions,
  copyTitle,
  createSlots,
  freshIds,
  junctionOf,
  linkPartsOf,
  planRows,
  runCopy,
} from './link-copies.ts'

/** A requested copy of a field. */
export interface FieldCopy {
  fieldId: string
  newFieldId: string
  withData: boolean
  place: FieldPosition
}

/**
 * Loads a field and checks that the actor may duplicate it.
 *
 * @throws FIELD_NOT_FOUND; BAD_REQUEST for the record id, system fields, foreign keys and connected databases
 */
export async function openFieldToCopy(
  context: SchemaContext,
  actor: Actor,
  fieldId: string,
): Promise<{ model: TableModel; field: Field }> {
  const { model, field } = await openField(context, actor, 'field.duplicate', fieldId)
  if (field.isSystem || field.isPrimaryKey) {
    throw badRequest(m.wire_error_system_column({ column: field.title, action: 'duplicated' }))
  }
  if (isForeignKey(field)) {
    throw badRequest(m.schema_error_duplicate_part({ field: field.title }))
  }
  if (await foreignSourceOf(context, model.table)) {
    throw badRequest(m.schema_error_duplicate_field_connected({ table: model.table.title }))
  }
  return { model, field }
}

/**
 * Duplicates a field, optionally with its values. The copy is neither unique nor the display field. The copy of a link
 * gets its own parts, see `LinkCopies`.
 *
 * @throws as `openFieldToCopy`; VIEW_NOT_FOUND and FIELD_NOT_FOUND for an invalid position
 */
export async function duplicateField(
  context: SchemaContext,
  actor: Actor,
  copy: FieldCopy,
  follower: ScriptFollower = {},
): Promise<Field> {
  const { table } = (await openFieldToCopy(context, actor, copy.fieldId)).model
  await runCopy(context, [actor, table.baseId, follower], (script, suffix) =>
    planCopy(context, actor, copy, script, suffix),
  )
  return getField(await context.store.load(table.id), copy.newFieldId)
}

async function planCopy(
  context: SchemaContext,
  actor: Actor,
  { fieldId, newFieldId, withData, place }: FieldCopy,
  script: ScriptContext,
  suffix: string,
): Promise<PlannedScript<void>> {
  const { model, field } = await openFieldToCopy(context, actor, fieldId)
  const original = model.stored.find(({ id }) => id === fieldId)
  if (!original) throw new Error(`Field ${fieldId} is not stored`)
  const parts = await linkPartsOf(context, [original])
  const ids = freshIds([original, ...parts.fields], parts.junctions).set(fieldId, newFieldId)
  const draft = createCopyDraft(script, { actorId: actorIdOf(actor), withData })
  const slotsOf = createSlots(context)
  // Auto numbers are always copied.
  const withValues = withData || numbersRecords(field)

  const add = async (from: StoredField, names: Pick<Field, 'title' | 'columnName'>) => {
    const slots = await slotsOf(from.tableId)
    const { order: _order, ...rest } = fieldWithNewIds(from, ids)
    // Records of other tables need not link to this one a second time.
    const isOwn = from.tableId === model.table.id
    const rules = { unique: false, isDisplay: false, required: withValues && isOwn && from.required }
    const field = slots.add({ ...rest, ...rules, ...names }) as StoredField
    if (field.columnName !== '') await draft.addColumn(slots.model, from.columnName, field, withValues)
    return field
  }
  // The key comes before the link that reads it, as in the REST API.
  const key = parts.fields.find(isForeignKey)
  const reverse = parts.fields.find((part) => !isForeignKey(part))
  const added: StoredField[] = []
  if (key) {
    const parent = linkOf(field)?.holdsKey ? linkOf(field)?.relatedTableId : model.table.id
    const { tableName } = (await context.store.load(parent ?? '')).table
    const name = (await slotsOf(key.tableId)).keyName(tableName + suffix)
    added.push(await add(key, { title: name, columnName: name }))
  }
  const slots = await slotsOf(model.table.id)
  const title = uniqueTitle(copyTitle(field.title), [...model.fields, ...slots.added])
  const columnName = field.columnName === '' ? '' : slots.columnName(title + suffix)
  const copied = await add(original, { title, columnName })
  added.push(copied)
  const tableSlots = await openTableSlots(context.store, model.table.baseId, { now: script.now, suffix })
  const junctions = await copyJunctions(context, parts.junctions, {
    draft,
    ids,
    slots: tableSlots,
    ownerId: actorIdOf(actor),
    titleOf: copyTitle,
    pairOf: (id) => junctionOf([original], id),
  })
  const { views } = context
  const viewStatements = await views.forNewField(model, copied, place, actor)
  if (reverse) {
    const other = await slotsOf(reverse.tableId)
    const copiedReverse = await add(reverse, {
      title: other.freeTitle(copyTitle(reverse.title)),
      columnName: '',
    })
    added.push(copiedReverse)
    if (!copiedReverse.isSystem) viewStatements.push(...(await views.forReverse(other.model, copiedReverse)))
  }
  const planned = planRows(context, draft, script.now, {
    tables: junctions.tables,
    fields: [...added, ...junctions.fields],
    statements: [...junctions.statements, ...viewStatements],
  })
  return {
    ...planned,
    entry: { kind: 'field.create', tableId: model.table.id, detail: { fieldId: newFieldId } },
    // The copy of a broken field may be broken as well.
    altered: { ...planned.altered, checked: field.error === null ? [newFieldId] : [] },
    touchesRecords: withValues,
    result: undefined,
  }
}
