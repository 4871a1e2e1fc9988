import type { Operation, UpdatedRow } from '../../../src/core/changes.ts'
import { isSingleLink } from '../../../src/core/fields/link-options.ts'
import { readLinks } from '../../../src/core/fields/list-value.ts'
import { m } from '../../../src/messages.gen.ts'
import { type ImportedObject, recordScope } from '../store.ts'
import { type KnownField, type KnownTable, type PendingValues, problem, type RunContext } from './context.ts'
import { type Lacking, readLacking, withLacking } from './lacking.ts'
import { existing } from './write-records.ts'

const RECORDS_AT_ONCE = 200

/** Writes the links of new and changed records, from one side of each link, when the records of all tables are there. */
export async function writeLinks(context: RunContext): Promise<void> {
  const tables = [...context.tables.values()]
  for (const [index, table] of tables.entries()) {
    const reached = tables.findIndex(({ source }) => source.id === context.state.after?.tableId)
    if (index < reached) continue
    const fields = [...table.fields.values()].filter(({ state }) => state.mode === 'link')
    if (fields.length > 0) await linkTable(context, table, fields)
  }
  context.state.after = null
}

async function linkTable(context: RunContext, table: KnownTable, fields: KnownField[]): Promise<void> {
  const { store, row, state, signal } = context
  for (;;) {
    signal.throwIfAborted()
    const after = state.after?.tableId === table.source.id ? state.after.sourceId : null
    const page = await store.page(row.id, recordScope(table.source.id), {
      after,
      limit: RECORDS_AT_ONCE,
      isPending: true,
    })
    const last = page.at(-1)
    if (!last) return
    const live = await existing(
      context,
      table,
      page.map(({ targetId }) => Number(targetId)),
    )
    const { operations, lacking } = await linkRecords(
      context,
      table,
      fields,
      page.filter(({ targetId }) => live.has(targetId)),
    )
    if (operations.length > 0)
      await context.services.records.apply(context.actor, { baseId: row.baseId, operations })
    state.after = { tableId: table.source.id, sourceId: last.sourceId }
    await context.save(store.storing(row.id, recordScope(table.source.id), [...lacking].flatMap(withLinks)))
  }
}

/** The changes that link records, and the links that they lack. Reports the latter. */
async function linkRecords(
  context: RunContext,
  table: KnownTable,
  fields: readonly KnownField[],
  objects: readonly ImportedObject[],
): Promise<{ operations: Operation[]; lacking: Map<ImportedObject, Lacking['links']> }> {
  const pending = new Map(
    objects.map((object) => [object, JSON.parse(object.pending ?? '{}') as PendingValues]),
  )
  const rows = new Map<ImportedObject, UpdatedRow>()
  const additions: Operation[] = []
  const lacking = new Map<ImportedObject, Lacking['links']>()
  for (const field of fields) {
    const { id } = field.source
    const asked = [...pending].flatMap(([object, { links, addedLinks }]) => {
      const ids = links?.[id] ?? addedLinks?.[id]
      return ids ? [{ object, ids, isAddition: links?.[id] === undefined }] : []
    })
    const targets = await targetsOf(
      context,
      field,
      asked.flatMap(({ ids }) => ids),
    )
    const additional = asked.flatMap(({ object, isAddition }) => (isAddition ? object : []))
    const taken = await withLink(context, table, field, additional)
    for (const { object, ids, isAddition } of asked) {
      const found = ids.flatMap((one) => targets.get(one) ?? [])
      const missing = ids.filter((one) => !targets.has(one))
      if (missing.length > 0) await reportMissing(context, table, field, object.sourceId, missing.length)
      lacking.set(object, { ...lacking.get(object), ...(missing.length > 0 && { [id]: missing }) })
      const row = rows.get(object) ?? { id: Number(object.targetId), values: {} }
      if (!isAddition) {
        row.values[field.id] = JSON.stringify(found)
        rows.set(object, row)
      } else if (found.length > 0 && !taken.has(object.targetId))
        additions.push({ kind: 'link', tableId: table.id, fieldId: field.id, id: row.id, targets: found })
    }
  }
  const update: Operation[] =
    rows.size > 0 ? [{ kind: 'update', tableId: table.id, rows: [...rows.values()] }] : []
  return { operations: [...update, ...additions], lacking }
}

/** The records here that have their only link already, as texts: somebody has made it since the record was imported. */
async function withLink(
  { services, actor }: RunContext,
  table: KnownTable,
  { id, source: { plan } }: KnownField,
  objects: readonly ImportedObject[],
): Promise<Set<string>> {
  if (objects.length === 0 || plan.as !== 'link' || !isSingleLink(plan)) return new Set()
  const { ids, rows } = await services.records.list(actor, {
    tableId: table.id,
    fieldIds: [id],
    recordIds: objects.map(({ targetId }) => Number(targetId)),
    limit: objects.length,
    offset: 0,
  })
  return new Set(ids.flatMap((one, at) => (readLinks(rows[at]?.[0] ?? null).count > 0 ? String(one) : [])))
}

/** The counterpart of a record with a note of the links that it lacks; none if that has not changed. */
function withLinks([object, links]: [ImportedObject, Lacking['links']]): ImportedObject[] {
  if (object.digest === null) return []
  const { digest, lacking } = readLacking(object.digest)
  const noted = withLacking(digest, { ...lacking, links })
  return noted === object.digest ? [] : [{ ...object, digest: noted }]
}

/** The linked records here that are not in the trash, by their ids in the source. */
async function targetsOf(
  context: RunContext,
  { source }: KnownField,
  sourceIds: readonly string[],
): Promise<Map<string, number>> {
  const { store, row, tables } = context
  const related = source.plan.as === 'link' ? tables.get(source.plan.tableId) : undefined
  if (!related || sourceIds.length === 0) return new Map()
  const objects = await store.objects(row.id, recordScope(related.source.id), sourceIds)
  const live = await existing(
    context,
    related,
    [...objects.values()].map(({ targetId }) => Number(targetId)),
  )
  return new Map(
    [...objects].flatMap(([id, { targetId }]) =>
      live.has(targetId) ? [[id, Number(targetId)] as const] : [],
    ),
  )
}

const reportMissing = (
  { report }: RunContext,
  table: KnownTable,
  field: KnownField,
  recordId: string,
  count: number,
): Promise<void> =>
  report([
    problem('skipped', m.base_imports_reason_link_records({ count }), {
      tableTitle: table.source.title,
      fieldTitle: field.source.title,
      recordId,
    }),
  ])
