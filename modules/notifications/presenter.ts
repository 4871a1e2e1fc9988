import type { Actor } from '../../src/core/actor.ts'
import { AppError } from '../../src/core/errors.ts'
import type { Person } from '../../src/core/model.ts'
import type { Notification } from '../../src/core/notifications.ts'
import type { AuthService } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import { type RecordsService, referenceKey, storedId } from '../records/index.ts'
import type { SchemaReader, TableModel } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'
import type { NotificationRow } from './store.ts'

interface Deps {
  auth: Pick<AuthService, 'access' | 'people'>
  bases: Pick<BasesService, 'require'>
  schema: Pick<SchemaReader, 'load'>
  views: Pick<ViewsService, 'load'>
  records: Pick<RecordsService, 'titlesOf'>
}

/** Null if the work is refused: for want of access, because something is not there, or a filter is broken. */
export const unlessRefused = <T>(work: () => Promise<T>): Promise<T | null> =>
  unless(work, (error) => error.status < 500)

/** Null also if a database does not answer: one unreachable base does not hide the notifications of others. */
export const unlessUnreadable = <T>(work: () => Promise<T>): Promise<T | null> => unless(work, () => true)

async function unless<T>(
  work: () => Promise<T>,
  isExpected: (error: AppError) => boolean,
): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError && isExpected(error)) return null
    throw error
  }
}

/**
 * Names what notifications refer to, as the recipient may see it now: whoever has lost access to a base gets neither
 * names nor details.
 */
export function createPresenter({ auth, bases, schema, views, records }: Deps) {
  /** Names the tables, views and records of one base; one read of records per table. */
  async function namesIn(
    actor: Actor,
    baseId: string,
    rows: readonly NotificationRow[],
    timeZone: string | undefined,
  ) {
    const base = await unlessRefused(async () => {
      await auth.access.authorize(actor, 'record.list', baseId)
      return bases.require(baseId)
    })
    if (!base) return null
    const models = new Map<string, TableModel>()
    for (const tableId of new Set(rows.flatMap((row) => row.tableId ?? []))) {
      const model = await unlessRefused(() => schema.load(tableId))
      if (model) models.set(tableId, model)
    }
    const viewTitles = new Map<string, string>()
    for (const viewId of new Set(rows.flatMap((row) => row.viewId ?? []))) {
      const view = await unlessRefused(() => views.load(viewId))
      if (view) viewTitles.set(viewId, view.title)
    }
    const references = rows.flatMap(({ tableId, recordId }) =>
      tableId !== null && recordId !== null && models.has(tableId) ? [{ tableId, recordId }] : [],
    )
    const titles = (await unlessUnreadable(() => records.titlesOf(actor, references, timeZone))) ?? new Map()
    return { base, models, viewTitles, titles }
  }

  function presentRow(
    row: NotificationRow,
    names: Awaited<ReturnType<typeof namesIn>> | undefined,
    people: ReadonlyMap<string, Person>,
  ): Notification {
    const { id, kind, at, isRead, count, tableId, viewId, fieldId, recordId } = row
    const model = tableId === null ? undefined : names?.models.get(tableId)
    const isAvailable = row.baseId === null || (names != null && (tableId === null || model !== undefined))
    const nothing = { actor: null, base: null, table: null, view: null, field: null, record: null }
    const shared = { id, kind, at, isRead, count, isAvailable }
    if (!isAvailable) return { ...shared, ...nothing, fields: [], detail: {} }
    const viewTitle = viewId === null ? undefined : names?.viewTitles.get(viewId)
    const field = fieldId === null ? undefined : model?.field(fieldId)
    const title = tableId && recordId && names?.titles.get(referenceKey({ tableId, recordId }))?.recordTitle
    return {
      ...shared,
      actor: (row.actorId === null ? undefined : people.get(row.actorId)) ?? null,
      base: names ? { id: names.base.id, title: names.base.title } : null,
      table: model ? { id: model.table.id, title: model.table.title } : null,
      view: viewId !== null && viewTitle !== undefined ? { id: viewId, title: viewTitle } : null,
      field: field ? { id: field.id, title: field.title } : null,
      record: model && recordId !== null ? { id: storedId(model, recordId), title: title || '' } : null,
      fields: (row.detail.fieldIds ?? []).flatMap((one) => model?.field(one)?.title ?? []),
      detail: row.detail,
    }
  }

  /**
   * Notifications as their recipient sees them, in the order of the rows.
   *
   * @param timeZone of times in names; by default UTC
   */
  return async function present(
    actor: Actor,
    rows: readonly NotificationRow[],
    timeZone?: string,
  ): Promise<Notification[]> {
    const names = new Map<string, Awaited<ReturnType<typeof namesIn>>>()
    for (const [baseId, ofBase] of Map.groupBy(rows, (row) => row.baseId)) {
      if (baseId !== null) names.set(baseId, await namesIn(actor, baseId, ofBase, timeZone))
    }
    const actorIds = rows.flatMap(({ actorId, baseId }) =>
      actorId !== null && (baseId === null || names.get(baseId)) ? [actorId] : [],
    )
    const people = new Map((await auth.people([...new Set(actorIds)])).map((one) => [one.id, one]))
    return rows.map((row) => presentRow(row, row.baseId === null ? undefined : names.get(row.baseId), people))
  }
}

export type Presenter = ReturnType<typeof createPresenter>
