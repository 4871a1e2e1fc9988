import type { Actor, UserActor } from '../../../src/core/actor.ts'
import { type Values, viewOfPositionKey } from '../../../src/core/changes.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { findEntry } from '../../../src/db/change-log/entry.ts'
import { entriesOfRecord, type LoggedRecord, type RecordEntry } from '../../../src/db/change-log/records.ts'
import { findDeleted, stillDeleted } from '../../../src/db/change-log/trash.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import type { AuthService } from '../../auth/index.ts'
import {
  definitionsAt,
  type FieldChanges,
  fieldChangesSince,
  type SchemaReader,
  type TableModel,
} from '../../schema/index.ts'
import {
  contextFor,
  type LinkSchema,
  linkDelta,
  type OpenLink,
  openLink,
  readPairs,
  relatedHeldByOne,
  type WriteScope,
} from '../links/index.ts'
import { type FormerFields, formerFields, presentJson, withPresentTitles } from '../rows/index.ts'
import { columnName, isForeign, isWritable, maskValues, readRecords, storedId } from '../table/index.ts'
import type { CheckedOperation, Door } from '../write/index.ts'
import { dropStaleOperations } from './drop-stale.ts'
import { changesBetween, type HistoryEntry } from './history.ts'
import { invert } from './invert.ts'
import { asLogged, linesOf } from './trash.ts'

/** Later entries of a record that restoring a version may go back over. */
const MAX_LATER = 10_000
/** Entries per statement. */
const PAGE = 500

/** A version of a record: its state right after an entry of its history, or right before one that deleted it. */
export interface RecordVersion {
  tableId: string
  recordId: RecordId
  entryId: number
}

export interface RecordVersionPreview {
  /** When the version came to be. */
  at: string
  /** True if the record is deleted now. */
  isDeleted: boolean
  /** From now to then; a link has its `linkDelta` in `after`. */
  changes: HistoryEntry['changes']
  /** The titles of fields whose former value cannot be restored. */
  left: string[]
}

interface Deps {
  kernel: Pick<Kernel, 'sources'>
  auth: Pick<AuthService, 'access'>
  schema: LinkSchema & Pick<SchemaReader, 'engineOf'>
  door: Door
}

/** How a record came into the trash. */
interface Deletion {
  changeId: number
  /** As the log has it. */
  recordId: RecordId
  /** See `linesOf`. */
  lines: LoggedRecord[]
}

/** What is read before the write lease is held: it may take a scan. */
interface Known {
  /** How the record came into the trash, if it is there. */
  deletion: Deletion | null
  /** The changes of fields since the version. */
  fieldChanges: FieldChanges
}

/** The record was deleted, or came back, since it was read. */
class ChangedMeanwhile extends AppError {
  constructor() {
    super('CONFLICT', m.records_error_trash_changed())
  }
}

/** Tries of a restoration of what others delete and restore at the same time. */
const MAX_TRIES = 10

/** The changes of the record's links since the version, to be reverted. */
interface LinkChanges {
  field: Field
  /** Linked then, but not now. */
  add: Set<RecordId>
  /** Linked now, but not then. */
  remove: Set<RecordId>
}

/** Gives one record the values and links of an earlier version. */
export function createRecordRestore({ kernel, auth, schema, door }: Deps) {
  /**
   * What restoring a version would change.
   *
   * @throws as `restore`
   */
  async function preview(actor: Actor, version: RecordVersion): Promise<RecordVersionPreview> {
    const { model, log, at } = await enter(actor, version)
    const engine = await schema.engineOf(model.table)
    const scope = readingScope(engine)
    const id = storedId(model, version.recordId)
    const now = await valuesNow(scope, model, id)
    const known = await readBefore(log, model, version, now === null)
    if (now === null && !known.deletion) throw noVersion()
    const then = await valuesThen(log, model, version, known.fieldChanges)
    const { operations, links } = await planOf(scope, log, model, version, known)
    const row = operations
      .flatMap((one) =>
        one.kind === 'update' || one.kind === 'restore' ? one.rows.map((each) => ({ one, each })) : [],
      )
      .find(({ one, each }) => one.tableId === model.table.id && String(each.id) === String(id))?.each
    const after = now === null ? (row?.values ?? {}) : { ...now, ...row?.values }
    const left = Object.keys(then.values).flatMap((fieldId) => {
      const field = model.field(fieldId)
      if (!field || field.isSystem || !isWritable(field)) return []
      return (then.values[fieldId] ?? null) === (after[fieldId] ?? null) ? [] : [titleOf(model, field)]
    })
    const deltas = links.map(({ link, add, remove }) => ({
      fieldId: link.field.id,
      before: null,
      after: linkDelta(add, remove),
    }))
    const changes = changesBetween(model, maskValues(model, now ?? {}), maskValues(model, after))
    return { at, isDeleted: now === null, changes: [...changes, ...deltas], left }
  }

  /**
   * Restores a version of a record as one change that can be undone. Values that their field would reject now, and
   * links to records that are gone or belong to another record by now, are left out.
   *
   * @throws TABLE_NOT_FOUND, PERMISSION_DENIED below editor; RECORD_NOT_FOUND where the history has no such version, or
   *   the record was deleted forever; DATABASE_ERROR where a value that must be unique is in another record
   */
  async function restore(
    actor: Actor,
    version: RecordVersion,
  ): Promise<{ changeId: number; changed: boolean }> {
    const { user, model, log } = await enter(actor, version)
    const id = storedId(model, version.recordId)
    const scope = readingScope(await schema.engineOf(model.table))
    for (let tries = 1; ; tries++) {
      const isDeleted = (await valuesNow(scope, model, id)) === null
      const known = await readBefore(log, model, version, isDeleted)
      try {
        return await restoreNow(user, model, log, version, known)
      } catch (error) {
        if (!(error instanceof ChangedMeanwhile) || tries === MAX_TRIES) throw error
        if (tries > 1 && !known.deletion) throw noVersion()
      }
    }
  }

  /** @throws ChangedMeanwhile */
  async function restoreNow(
    user: UserActor,
    model: TableModel,
    log: Engine,
    version: RecordVersion,
    known: Known,
  ): Promise<{ changeId: number; changed: boolean }> {
    const { id: tableId, baseId } = model.table
    const written = await door.write(
      user,
      { baseId },
      {
        entry: { kind: 'records.rewind', tableId, detail: { entryId: version.entryId } },
        async plan(scope) {
          // With the titles of options as they are now that nobody else writes.
          const now = await schema.loadWithKeys(tableId)
          const { operations, links } = await planOf(scope, log, now, version, known)
          const id = storedId(now, version.recordId)
          return [
            ...operations,
            ...links.flatMap(({ link, add, remove }): CheckedOperation[] => {
              const own = { tableId, fieldId: link.field.id, id }
              return [
                ...(remove.length > 0 ? [{ kind: 'unlink', ...own, targets: remove } as const] : []),
                ...(add.length > 0 ? [{ kind: 'link', ...own, targets: add } as const] : []),
              ]
            }),
          ]
        },
      },
    )
    return { changeId: written.id, changed: written.count > 0 }
  }

  async function enter(
    actor: Actor,
    { tableId, entryId }: RecordVersion,
  ): Promise<{ user: UserActor; model: TableModel; log: Engine; at: string }> {
    const model = await schema.loadWithKeys(tableId)
    if (model.table.deletedAt !== null) throw notFound('Table', tableId)
    await auth.access.authorize(actor, 'record.restore', model.table.baseId)
    if (actor.kind !== 'user') throw new AppError('AUTHENTICATION_REQUIRED', m.wire_error_invalid_token())
    const log = await kernel.sources.engine(model.table.baseId)
    const entry = await findEntry(log, entryId)
    if (!entry) throw noVersion()
    return { user: actor, model, log, at: entry.at }
  }

  /**
   * The operations that restore the version, and the links to add and remove after them.
   *
   * @throws ChangedMeanwhile
   */
  async function planOf(
    scope: WriteScope,
    log: Engine,
    model: TableModel,
    version: RecordVersion,
    { deletion, fieldChanges }: Known,
  ): Promise<{
    operations: CheckedOperation[]
    links: { link: OpenLink; add: RecordId[]; remove: RecordId[] }[]
  }> {
    const id = storedId(model, version.recordId)
    const changes = await fieldChangesSince(log, model.table.id, version.entryId - 1, fieldChanges)
    const then = await valuesThen(log, model, version, changes)
    const now = await valuesNow(scope, model, id)
    if (now === null && !(deletion && (await isLatest(log, model, deletion)))) throw new ChangedMeanwhile()
    const former = deletion && formerFields(model, definitionsAt(changes)(deletion.changeId))
    const lines = now === null && former ? deletion.lines.map((line) => withPresentTitles(line, former)) : []
    const isOwn = (line: LoggedRecord) =>
      line.table_id === model.table.id && String(line.record_id) === String(id)
    const own: LoggedRecord =
      now === null
        ? restoredLine(lines.find(isOwn), then.values)
        : {
            table_id: model.table.id,
            record_id: version.recordId,
            before: JSON.stringify(then.values),
            after: JSON.stringify({ ...then.latest, ...now }),
          }
    const inverse = await invert(scope, [own, ...lines.filter((line) => !isOwn(line))])
    const { operations } = await dropStaleOperations(scope, inverse.operations)
    const links: Awaited<ReturnType<typeof planOf>>['links'] = []
    for (const change of then.links) {
      const planned = await planLinks(scope, model, { id, isDeleted: now === null }, change)
      if (planned && planned.add.length + planned.remove.length > 0) links.push(planned)
    }
    return { operations, links }
  }

  const readBefore = async (
    log: Engine,
    model: TableModel,
    { recordId, entryId }: RecordVersion,
    isDeleted: boolean,
  ): Promise<Known> => ({
    deletion: isDeleted ? await deletionOf(log, model, storedId(model, recordId)) : null,
    fieldChanges: await fieldChangesSince(log, model.table.id, entryId - 1),
  })

  /** The deletion of a record in the trash; null for another record. */
  async function deletionOf(log: Engine, model: TableModel, id: RecordId): Promise<Deletion | null> {
    const recordIds = [asLogged(log, model, id)]
    const [deleted] = await findDeleted(log, model.table.id, { recordIds }, 1)
    if (!deleted) return null
    const changeId = Number(deleted.change_id)
    const lines = await linesOf(log, schema, model, changeId, [deleted.record_id])
    return { changeId, recordId: deleted.record_id, lines }
  }

  const isLatest = async (
    log: Engine,
    model: TableModel,
    { changeId, recordId }: Deletion,
  ): Promise<boolean> => (await stillDeleted(log, model.table.id, changeId, [recordId])).size > 0

  async function planLinks(
    scope: WriteScope,
    model: TableModel,
    { id, isDeleted }: { id: RecordId; isDeleted: boolean },
    { field, add, remove }: LinkChanges,
  ): Promise<{ link: OpenLink; add: RecordId[]; remove: RecordId[] } | null> {
    // A broken link has no records to link to.
    if (field.error !== null) return null
    const link = await openLink(schema, model, field.id)
    const idsOf = (ids: Iterable<RecordId>) => [...ids].map((target) => storedId(link.related, target))
    const [wanted, unwanted] = [idsOf(add), idsOf(remove)]
    const there = await readRecords(contextFor(scope, link.related), [...wanted, ...unwanted], [])
    const taken = relatedHeldByOne(link)
      ? new Set(
          (await readPairs(scope, link, { target: wanted }))
            .filter(({ own }) => String(own) !== String(id))
            .map(({ target }) => String(target)),
        )
      : new Set<string>()
    const linked = await readPairs(scope, link, { own: [id] })
    const known = new Set(linked.map(({ target }) => String(target)))
    return {
      link,
      add: wanted
        .filter((target) => there.has(String(target)) && !taken.has(String(target)))
        .filter((target) => !known.has(String(target))),
      // A deleted record has its last links again when these are removed.
      remove: unwanted.filter(
        (target) => there.has(String(target)) && (isDeleted || known.has(String(target))),
      ),
    }
  }

  return { preview, restore }

  /** A scope for plans that are only looked at. */
  function readingScope(engine: Engine): WriteScope {
    const refuse = () => Promise.reject(new Error('A preview writes nothing'))
    const tx = {
      all: <T>(...asked: Parameters<Engine['all']>) => engine.all<T>(asked[0]),
      run: refuse,
      runMany: refuse,
      insertOne: refuse,
      insertMany: refuse,
    }
    return { tx, dialect: engine.dialect, schema, actorId: null, now: null, renumbered: new Set() }
  }
}

interface Then {
  /** The values that later entries replaced, as they were. */
  values: Values
  /** The values that the newest entries wrote under the same keys. */
  latest: Values
  links: LinkChanges[]
}

/** @throws RECORD_NOT_FOUND where the record did not exist right after the entry, or the log has no such entry */
async function valuesThen(
  log: Engine,
  model: TableModel,
  { tableId, recordId, entryId }: RecordVersion,
  fieldChanges: FieldChanges,
): Promise<Then> {
  const id = storedId(model, recordId)
  const later: RecordEntry[] = []
  for (let before = Number.MAX_SAFE_INTEGER; ; before = later.at(-1)!.id) {
    const page = await entriesOfRecord(log, { tableId, recordId: id, before, limit: PAGE })
    // The version of a deletion is the record as it was deleted.
    const newer = page.filter(({ id: at, before: old, after }) =>
      at === entryId ? old !== null && after === null : at > entryId,
    )
    later.push(...newer)
    if (newer.length < page.length || page.length < PAGE) break
    if (later.length > MAX_LATER) throw badRequest(m.records_error_version_too_old({ max: MAX_LATER }))
  }
  const oldest = later.at(-1)
  if (oldest?.before === null) throw noVersion()
  const then: Then = { values: {}, latest: {}, links: [] }
  const links = new Map<string, LinkChanges>()
  const fieldsAt = formerFieldsAt(model, fieldChanges)
  for (const entry of later) {
    // An entry may be that of a renaming.
    const texts = [
      presentJson(entry.before, fieldsAt(entry.id - 1)),
      presentJson(entry.after, fieldsAt(entry.id)),
    ]
    const [before, after] = texts.map((text): Values => (text ? JSON.parse(text) : {}))
    for (const [key, value] of Object.entries(before ?? {})) {
      const field = model.field(key)
      const isRestorable = !field || isWritable(field) || (field.isSystem && columnName(field) === 'nc_order')
      if (!isRestorable) continue
      then.values[key] = value
      if (!(key in then.latest)) then.latest[key] = after?.[key] ?? null
    }
    // Deleting and restoring the record took its links and gave them back; only the second is marked.
    for (const [key, value] of entry.before === null ? [] : Object.entries(after ?? {})) {
      const field = model.field(key)
      const link = field ? linkOf(field) : null
      // A key that the record holds is among its values.
      if (!field || !link || link.holdsKey) continue
      const change = links.get(key) ?? { field, add: new Set(), remove: new Set() }
      links.set(key, change)
      takeBack(change, value)
    }
  }
  then.links = [...links.values()]
  // Positions of views that are gone stay as they are.
  for (const key of Object.keys(then.values)) {
    if (viewOfPositionKey(key) === null && !model.field(key) && !isForeign(model)) delete then.values[key]
  }
  return then
}

/** Tells what the fields were at entries, which are the same between two changes of them. */
function formerFieldsAt(model: TableModel, changes: FieldChanges): (entryId: number) => FormerFields {
  const known = new Map<number | undefined, FormerFields>()
  return (entryId) => {
    const next = changes.replaced.find(({ id }) => id > entryId)?.id
    const found = known.get(next) ?? formerFields(model, definitionsAt(changes)(entryId))
    known.set(next, found)
    return found
  }
}

function takeBack({ add, remove }: LinkChanges, delta: unknown): void {
  const { linked = [], unlinked = [] } = JSON.parse(String(delta ?? '{}')) as {
    linked?: RecordId[]
    unlinked?: RecordId[]
  }
  for (const id of linked) if (!add.delete(id)) remove.add(id)
  for (const id of unlinked) if (!remove.delete(id)) add.add(id)
}

/** The stored values of a record; null if it does not exist. */
async function valuesNow(scope: WriteScope, model: TableModel, id: RecordId): Promise<Values | null> {
  const fields = model.fields.filter(
    (field) => isWritable(field) || (field.isSystem && columnName(field) === 'nc_order'),
  )
  const found = await readRecords(contextFor(scope, model), [id], fields)
  return found.get(String(id)) ?? null
}

/** The line of a deletion, with the values of the version. */
function restoredLine(line: LoggedRecord | undefined, then: Values): LoggedRecord {
  if (!line?.before) throw noVersion()
  const places = Object.keys(then).filter((key) => viewOfPositionKey(key) !== null)
  const values = Object.fromEntries(Object.entries(then).filter(([key]) => !places.includes(key)))
  return {
    ...line,
    before: JSON.stringify({ ...(JSON.parse(line.before) as Values), ...values }),
    after: null,
  }
}

/** The title of a field; of a key, that of its link. */
const titleOf = (model: TableModel, field: Field): string =>
  model.fields.find((one) => linkOf(one)?.keyFieldId === field.id && linkOf(one)?.holdsKey)?.title ??
  field.title

const noVersion = (): AppError => new AppError('RECORD_NOT_FOUND', m.records_error_no_version())
