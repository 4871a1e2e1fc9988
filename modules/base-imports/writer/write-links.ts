import type { UpdatedRow } from '../../../src/core/changes.ts'
import { m } from '../../../src/messages.gen.ts'
import { recordScope } from '../store.ts'
import { type KnownField, type KnownTable, type PendingValues, problem, type RunContext } from './context.ts'
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
    const wanted = page
      .filter(({ targetId }) => live.has(targetId))
      .map((object) => ({ object, links: (JSON.parse(object.pending ?? '{}') as PendingValues).links ?? {} }))
    const values = new Map<string, UpdatedRow>()
    for (const field of fields) {
      const asked = wanted.filter(({ links }) => links[field.source.id] !== undefined)
      const targets = await targetsOf(
        context,
        field,
        asked.flatMap(({ links }) => links[field.source.id] ?? []),
      )
      for (const { object, links } of asked) {
        const ids = links[field.source.id] ?? []
        const found = ids.flatMap((id) => targets.get(id) ?? [])
        if (found.length < ids.length)
          await reportMissing(context, table, field, object.sourceId, ids.length - found.length)
        const rowOf = values.get(object.targetId) ?? { id: Number(object.targetId), values: {} }
        rowOf.values[field.id] = JSON.stringify(found)
        values.set(object.targetId, rowOf)
      }
    }
    if (values.size > 0) {
      await context.services.records.apply(context.actor, {
        baseId: row.baseId,
        operations: [{ kind: 'update', tableId: table.id, rows: [...values.values()] }],
      })
    }
    state.after = { tableId: table.source.id, sourceId: last.sourceId }
    await context.save()
  }
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
