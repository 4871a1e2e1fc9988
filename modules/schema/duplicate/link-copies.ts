import type { Actor } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Table } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  type PlannedScript,
  type SchemaContext,
  type ScriptContext,
  type ScriptFollower,
  withFreshName,
} from '../change/index.ts'
import { partsOfLink } from '../links/index.ts'
import {
  createCopiedRows,
  type FieldSlots,
  fieldWithNewIds,
  hasRoom,
  MAX_FIELDS,
  openSlots,
  type StoredField,
  type TableModel,
  type TableSlots,
} from '../model/index.ts'
import type { CopyDraft } from './draft.ts'

/**
 * The parts of links that are copied with them: foreign keys, reverse fields and junction tables. Because a copied link
 * has its own parts, it leads to the same records as the original without taking them over, whatever its kind.
 */
export interface LinkCopies {
  fields: StoredField[]
  junctions: TableModel[]
}

/** The live parts of all links among the fields. */
export async function linkPartsOf(context: SchemaContext, fields: StoredField[]): Promise<LinkCopies> {
  const found = new Map<string, StoredField>()
  const junctions = new Set<string>()
  for (const field of fields) {
    const parts = await partsOfLink(context, field)
    for (const part of parts.fields) if (part.deletedAt === null) found.set(part.id, part)
    for (const part of parts.tables) if (part.deletedAt === null) junctions.add(part.id)
  }
  return {
    fields: [...found.values()],
    junctions: await Promise.all([...junctions].map((id) => context.store.load(id))),
  }
}

/** New ids of copied fields, views, and junction tables with their fields, by the original ones. */
export function freshIds(
  fields: readonly StoredField[],
  junctions: readonly TableModel[],
  viewIds: readonly string[] = [],
): Map<string, string> {
  const all = [...fields, ...junctions.flatMap(({ stored }) => stored)]
  return new Map([
    ...junctions.map(({ table }) => [table.id, createId('table')] as const),
    ...all.map(({ id }) => [id, createId('field')] as const),
    ...viewIds.map((id) => [id, createId('view')] as const),
  ])
}

/** Runs the script of a copy. See `withFreshName` for the suffix. */
export const runCopy = <T>(
  { applyScript }: Pick<SchemaContext, 'applyScript'>,
  [actor, baseId, follower]: [Actor, string, ScriptFollower],
  plan: (script: ScriptContext, suffix: string) => Promise<PlannedScript<T>>,
): Promise<T> =>
  withFreshName((suffix) => applyScript(actor, baseId, (script) => plan(script, suffix), follower))

/** The part of a planned script that all copies share. */
export function planRows(
  { kernel }: SchemaContext,
  { script, rows }: CopyDraft,
  now: string,
  copied: CopiedMetadata,
): Pick<PlannedScript<unknown>, 'script' | 'rows' | 'statements' | 'tableIds'> & {
  altered: Pick<CopiedMetadata, 'fields' | 'tables'>
} {
  const { tables } = copied
  const fields = copied.fields.map((each) => ({ ...each, createdAt: now, updatedAt: now, deletedAt: null }))
  return {
    script,
    rows,
    statements: [...createCopiedRows(kernel).insertRows({ tables, fields }), ...copied.statements],
    altered: { fields, tables },
    tableIds: [...new Set([...tables.map(({ id }) => id), ...fields.map(({ tableId }) => tableId)])],
  }
}

/**
 * Opens the field slots of several tables, each once.
 *
 * @throws BAD_REQUEST, at each call, naming a table that has no room for another field
 */
export function createSlots({ store }: SchemaContext): (tableId: string) => Promise<FieldSlots> {
  const opened = new Map<string, { model: TableModel; slots: FieldSlots }>()
  const open = async (tableId: string) => {
    const model = await store.load(tableId)
    const entry = { model, slots: openSlots(model, await store.listFields(tableId)) }
    opened.set(tableId, entry)
    return entry
  }
  return async (tableId) => {
    const { model, slots } = opened.get(tableId) ?? (await open(tableId))
    if (!hasRoom({ fields: [...model.fields, ...slots.added] }))
      throw badRequest(m.schema_error_table_full({ table: model.table.title, max: MAX_FIELDS }))
    return slots
  }
}

/** `Price copy`, truncated to leave room for a suffix. */
export const copyTitle = (title: string): string => `${[...title].slice(0, 220).join('')} copy`

/** The metadata of copied tables and fields. */
interface CopiedMetadata {
  tables: Table[]
  fields: StoredField[]
  statements: MetaStatement[]
}

interface JunctionCopyOptions {
  draft: CopyDraft
  ids: ReadonlyMap<string, string>
  slots: TableSlots
  ownerId: string | null
  /** The title of a copy. */
  titleOf(original: string): string
  /** The ids of the two key fields of a junction table. */
  pairOf(tableId: string): [string, string]
}

/** Copies junction tables with their records. */
export async function copyJunctions(
  context: Pick<SchemaContext, 'views'>,
  junctions: readonly TableModel[],
  { draft, ids, slots, ownerId, titleOf, pairOf }: JunctionCopyOptions,
): Promise<CopiedMetadata> {
  const copied: CopiedMetadata = { tables: [], fields: [], statements: [] }
  for (const model of junctions) {
    const { id, title, description, meta, isJunction } = model.table
    const copy = { id: ids.get(id) ?? id, title: titleOf(title), description, meta, isJunction }
    const table = slots.add(copy, { freeTitle: true })
    const fields = model.stored.map((field) => fieldWithNewIds(field, ids))
    const columns = pairOf(id).map((fieldId) => model.field(fieldId)?.columnName ?? '')
    await draft.addTable(model, table, fields, [columns[0] ?? '', columns[1] ?? ''])
    copied.tables.push(table)
    copied.fields.push(...fields)
    copied.statements.push(...context.views.forNewTable(table, fields, ownerId))
  }
  return copied
}

/** The ids of the key fields of a junction table, from the link among `fields` that uses it. */
export function junctionOf(fields: readonly StoredField[], tableId: string): [string, string] {
  const found = fields.map((field) => linkOf(field)?.junction).find((each) => each?.tableId === tableId)
  if (!found) throw new Error(`No link uses the junction table ${tableId}`)
  return [found.ownFieldId, found.relatedFieldId]
}
