import type { Actor } from '../../src/core/actor.ts'
import type { Table } from '../../src/core/model.ts'
import type { BaseRole } from '../../src/core/roles.ts'
import type { ListedTrashKind, TrashKind } from '../../src/core/trash.ts'
import type { BaseRow, DeletedBase } from '../bases/index.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaService } from '../schema/index.ts'
import { type DetachedFiles, matchesText } from './detached-files.ts'
import type { Position } from './input.ts'
import { compareFound, type Found, startAmong, startIn } from './position.ts'

/** Deleted views that are read at once. */
const VIEWS_AT_ONCE = 100

/** A base whose trash is listed, with the role of the actor. */
export interface Scope {
  row: BaseRow
  role: BaseRole
}

/** What is read of the trash. */
export interface Asked {
  actor: Actor
  filter: { tableId?: string; deletedBy?: string; search?: string }
  /** Of times in titles and previews, and of the search. */
  timeZone?: string
  /** The deleted bases that the actor may restore. */
  deleted: readonly DeletedBase[]
}

/** Reads items, the latest first, from a position on (null: from the newest). */
export type Read = (from: Position | null, limit: number) => Promise<Found[]>

interface Deps {
  schema: Pick<SchemaService, 'trashedFieldsIn' | 'trashedTablesIn'>
  records: Pick<RecordsService, 'trash' | 'deletedViews'>
  files: DetachedFiles
}

type RecordKey = Extract<Position, { kind: 'record' }>['key']

/** The kinds that are in the logs of the bases. The others are in the metadata. */
export type LogKind = Extract<TrashKind, 'record' | 'view'>

export type TrashReaders = ReturnType<typeof createTrashReaders>

/** Reads the items of each kind. Access is checked for records and views; otherwise the caller does. */
export function createTrashReaders({ schema, records, files }: Deps) {
  /** Those of several bases. */
  const inMetadata: Record<
    Exclude<ListedTrashKind, LogKind>,
    (asked: Asked, scopes: readonly Scope[]) => Read
  > = {
    table:
      ({ filter }, scopes) =>
      async (from, limit) => {
        const position = startAmong<string>('table', from)
        const found = await schema.trashedTablesIn({
          baseIds: idsOf(scopes),
          position,
          wants: wants(filter),
          limit,
        })
        return found.map(({ id, baseId, title, deletedAt, deletedBy, isForeign }) => ({
          item: { ref: { kind: 'table', tableId: id }, title, table: null, deletedAt, deletedBy, isForeign },
          position: { kind: 'table', at: deletedAt, baseId, key: id },
        }))
      },

    field:
      ({ filter }, scopes) =>
      async (from, limit) => {
        const position = startAmong<string>('field', from)
        const found = await schema.trashedFieldsIn({
          baseIds: idsOf(scopes),
          position,
          wants: wants(filter),
          limit,
        })
        return found.map(({ id, title, table: { baseId, ...table }, deletedAt, deletedBy, isForeign }) => ({
          item: { ref: { kind: 'field', fieldId: id }, title, table, deletedAt, deletedBy, isForeign },
          position: { kind: 'field', at: deletedAt, baseId, key: id },
        }))
      },

    file:
      ({ filter: { tableId, deletedBy, search } }, scopes) =>
      async (from, limit) => {
        const position = startAmong<number>('file', from)
        const found = await files.list(idsOf(scopes), {
          tableId,
          detachedBy: deletedBy,
          search,
          position,
          limit,
        })
        return found.map((file) => ({
          item: {
            ref: { kind: 'file', fileId: file.id },
            title: file.item.title,
            table: { id: file.model.table.id, title: file.model.table.title },
            deletedAt: file.detachedAt,
            deletedBy: file.detachedBy,
            file: { size: file.item.size, field: file.field.title, recordId: file.recordId },
          },
          position: { kind: 'file', at: file.detachedAt, baseId: file.baseId, key: file.id },
        }))
      },

    /** All at once. */
    base:
      ({ deleted, filter }) =>
      async (from) => {
        const start = startAmong<never>('base', from)
        const isAfter = (at: string, baseId: string) =>
          start === null || at < start.at || (at === start.at && baseId > start.baseId)
        return deleted
          .map(({ base: { id: baseId, title, deletedAt }, deletedBy }): Found => {
            const at = deletedAt ?? ''
            return {
              item: { ref: { kind: 'base' }, title, table: null, deletedAt: at, deletedBy },
              position: { kind: 'base', at, baseId },
            }
          })
          .filter(
            ({ item, position: { at, baseId } }) =>
              isAfter(at, baseId) && wants(filter)({ ...item, tableId: null }),
          )
          .sort(compareFound)
      },
  }

  /** Those of one base, whose tables the caller has read. */
  const inLog: Record<LogKind, (asked: Asked, baseId: string, tables: readonly Table[]) => Read> = {
    record:
      ({ actor, filter, timeZone }, baseId, tables) =>
      async (from, limit) => {
        const request = {
          baseId,
          ...filter,
          ...startIn<RecordKey>(baseId, 'record', from),
          limit,
          timeZone,
          tables,
        }
        return (await records.trash.listOfBase(actor, request)).map(
          ({ recordId, changeId, deletedWith, table: { id, title }, ...record }) => ({
            item: {
              ...record,
              ref: { kind: 'record', tableId: id, recordId },
              table: { id, title },
              deletion: { changeId, records: deletedWith },
            },
            position: {
              kind: 'record',
              at: record.deletedAt,
              baseId,
              key: { changeId, tableId: id, recordId },
            },
          }),
        )
      },

    view:
      ({ actor, filter: { tableId, deletedBy, search } }, baseId, tables) =>
      async (from, limit) => {
        const found: Found[] = []
        const { until, after } = startIn<number>(baseId, 'view', from)
        let before = after
        while (found.length < limit) {
          const { actions } = await records.deletedViews(actor, baseId, {
            before,
            until,
            actorId: deletedBy,
            tableId,
            tables,
            limit: VIEWS_AT_ONCE,
          })
          for (const { id, viewTitle, tableId: of, tableTitle, at, actorId } of actions) {
            const title = viewTitle ?? ''
            if (!matchesText(title, search)) continue
            found.push({
              item: {
                ref: { kind: 'view', changeId: id },
                title,
                table: of === null ? null : { id: of, title: tableTitle ?? '' },
                deletedAt: at,
                deletedBy: actorId,
              },
              position: { kind: 'view', at, baseId, key: id },
            })
          }
          before = actions.at(-1)?.id
          if (before === undefined || actions.length < VIEWS_AT_ONCE) break
        }
        return found.slice(0, limit)
      },
  }

  return { inMetadata, inLog }
}

const idsOf = (scopes: readonly Scope[]): string[] => scopes.map(({ row }) => row.id)

/** Whether an item that was read with others is listed. */
const wants =
  ({ tableId, deletedBy, search }: Asked['filter']) =>
  (item: { title: string; tableId: string | null; deletedBy: string | null }): boolean =>
    (tableId === undefined || item.tableId === tableId) &&
    (deletedBy === undefined || item.deletedBy === deletedBy) &&
    matchesText(item.title, search)
