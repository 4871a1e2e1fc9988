import { createHash } from 'node:crypto'
import type { ImportProblem } from '../../../src/core/base-imports.ts'
import type { NewRow, UpdatedRow, Values } from '../../../src/core/changes.ts'
import { toStored } from '../../../src/core/dates.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { attachment, limitProblem } from '../../../src/core/fields/attachment.ts'
import { type AttachmentItem, MAX_ATTACHMENTS_EVER } from '../../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { idsIn, joinIds } from '../../../src/core/fields/people.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { HttpFailure } from '../../../src/http.ts'
import { m } from '../../../src/messages.gen.ts'
import { createdPlace } from '../roster.ts'
import {
  CursorExpired,
  MAX_PAGES,
  type SourceCell,
  type SourceField,
  type SourceFile,
  type SourcePerson,
  type SourceRecord,
} from '../source.ts'
import { type ImportedObject, recordScope } from '../store.ts'
import { type KnownTable, type PendingValues, problem, type RunContext, storingPeople } from './context.ts'
import {
  earlierCells,
  hasArrived,
  type Lacking,
  lacksNothing,
  matchPeople,
  readLacking,
  reportPeople,
  withLacking,
} from './lacking.ts'
import { createNameFields, namesOf } from './names.ts'

/** Fetches the content of a file. @throws AppError with the reason */
export type ReceiveFile = (file: SourceFile, signal: AbortSignal) => Promise<AttachmentItem>

/** Files of one write: unused files of a person are limited. */
const MAX_FILES_AT_ONCE = 200
/** Downloads at the same time. */
const DOWNLOADS = 4
/** Records per removal of missing ones. */
const REMOVED_AT_ONCE = 500
/** How often a table is read from the beginning because its pages have expired. */
const MAX_RESTARTS = 5

/** Reads the records of all tables, and writes those that are new or have changed since the last run. */
export async function writeRecords(context: RunContext, receive: ReceiveFile): Promise<void> {
  await completeInsert(context)
  for (const progress of context.state.tables) {
    const table = context.tables.get(progress.sourceId)
    if (!table || progress.isDone) continue
    await readTable(context, table, receive)
    await handleMissing(context, table)
    progress.isDone = true
    context.state.cursor = null
    await context.save()
  }
  context.roster.finish()
  await context.save(storingPeople(context))
  await reportPeople(context)
}

async function readTable(context: RunContext, table: KnownTable, receive: ReceiveFile): Promise<void> {
  const { connection, row, state, signal } = context
  const progress = progressOf(context, table)
  let restarts = 0
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    signal.throwIfAborted()
    let page: Awaited<ReturnType<typeof connection.records>>
    try {
      page = await connection.records(row.sourceBaseId, table.source, state.cursor)
    } catch (error) {
      if (!(error instanceof CursorExpired) || state.cursor === null || restarts >= MAX_RESTARTS) throw error
      // Records that were written before are recognized.
      restarts += 1
      progress.read = 0
      state.cursor = null
      context.roster.forget([...table.fields.keys(), createdPlace(table.source.id)])
      continue
    }
    for (const batch of inBatches(page.records)) await writeBatch(context, table, batch, receive)
    progress.read += page.records.length
    const isEndless = page.next !== null && page.next === state.cursor
    if (isEndless) throw badRequest(m.base_imports_error_endless({ table: table.source.title }))
    state.cursor = page.next
    await context.save(storingPeople(context))
    if (page.next === null) return
  }
  throw badRequest(m.base_imports_error_endless({ table: table.source.title }))
}

function progressOf({ state }: RunContext, { source }: KnownTable) {
  const progress = state.tables.find(({ sourceId }) => sourceId === source.id)
  if (!progress) throw new Error(`No progress of the table ${source.id}`)
  return progress
}

/** Records whose files fit into one write. */
function inBatches(records: readonly SourceRecord[]): SourceRecord[][] {
  const batches: SourceRecord[][] = []
  let files = Number.POSITIVE_INFINITY
  for (const record of records) {
    const own = Object.values(record.cells).reduce<number>((sum, cell) => sum + filesOf(cell).length, 0)
    if (files + own > MAX_FILES_AT_ONCE) {
      batches.push([])
      files = 0
    }
    files += own
    batches.at(-1)?.push(record)
  }
  return batches
}

const isFiles = (cell: SourceCell | undefined): cell is { files: SourceFile[] } =>
  typeof cell === 'object' && cell !== null && 'files' in cell
/** The files of a cell that fit into one here. */
const filesOf = (cell: SourceCell): SourceFile[] =>
  isFiles(cell) ? cell.files.slice(0, MAX_ATTACHMENTS_EVER) : []
const isLinks = (cell: SourceCell | undefined): cell is { links: string[] } =>
  typeof cell === 'object' && cell !== null && 'links' in cell
const isPeople = (cell: SourceCell | undefined): cell is { people: SourcePerson[] } =>
  typeof cell === 'object' && cell !== null && 'people' in cell

/**
 * Hash of everything that is imported of a record. Addresses of files change with each answer; empty values are left out, so
 * that a new field changes only the records that have a value in it. A replacement of a field is another one, as its type may
 * have changed and its values not.
 */
function digestOf(
  { connection }: RunContext,
  { fields }: KnownTable,
  { cells, computed, comments }: SourceRecord,
): string {
  const stable = (values: Record<string, unknown>) =>
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined)
  const files = (cell: SourceCell) => (isFiles(cell) ? cell.files.map(({ id, name }) => [id, name]) : cell)
  const keyOf = (id: string) => {
    const known = fields.get(id)
    return known?.state.isReplacement ? [id, known.id] : id
  }
  const own = stable(cells).map(([id, cell]) => [keyOf(id), files(cell as SourceCell)])
  // Whether the source tells the number may change between two runs, with the edition or the credentials.
  const counted = connection.comments ? (comments ?? 0) : comments
  return createHash('sha256')
    .update(JSON.stringify([own, stable(computed), counted]))
    .digest('base64url')
}

/** As `digestOf`, as a version has stored it that knew no ids of people. */
function digestWithoutIds(context: RunContext, table: KnownTable, record: SourceRecord): string {
  const cells = Object.entries(record.cells).map(([id, cell]) => {
    const people = isPeople(cell) ? cell.people.map(({ id: _, ...person }) => person as SourcePerson) : null
    return [id, people ? { people } : cell] as const
  })
  return digestOf(context, table, { ...record, cells: Object.fromEntries(cells) })
}

interface Changed {
  record: SourceRecord
  digest: string
  /** Its counterpart here, if it was imported before. */
  known: ImportedObject | undefined
}

/** A record that has not changed in the source, but lacks some of its files or people, or has other people than it should. */
interface Incomplete extends Changed {
  known: ImportedObject
  lacking: Lacking
}

interface Prepared {
  record: SourceRecord
  values: Values
  pending: PendingValues
  digest: string
  known: ImportedObject | undefined
}

async function writeBatch(
  context: RunContext,
  table: KnownTable,
  records: SourceRecord[],
  receive: ReceiveFile,
): Promise<void> {
  const { row, store } = context
  const scope = recordScope(table.source.id)
  // A source that repeats a record on a later page has changed meanwhile; the last one counts.
  const unique = [...new Map(records.map((record) => [record.id, record])).values()]
  const objects = await store.objects(
    row.id,
    scope,
    unique.map(({ id }) => id),
  )
  const seen: ImportedObject[] = []
  const changed: Changed[] = []
  const incomplete: Incomplete[] = []
  for (const record of unique) {
    const known = objects.get(record.id)
    const digest = digestOf(context, table, record)
    const before = known?.digest == null ? null : readLacking(known.digest)
    const isSame = (stored: string) =>
      stored === digest || stored === digestWithoutIds(context, table, record)
    if (!known || !before || !isSame(before.digest)) changed.push({ record, digest, known })
    else if (lacksNothing(before.lacking) && !hasOthers(context, table, record))
      seen.push({ ...seenAgain(context, record, known), digest })
    else incomplete.push({ record, digest, known, lacking: before.lacking })
  }
  const model = await context.services.schema.table(context.actor, table.id)
  const fields = new Map(model.fields.map((field) => [field.id, field]))
  countPeople(context, table, fields, unique)
  await createNameFields(context, table, fields, changed, incomplete)
  const problems: ImportProblem[] = []
  const withFiles = [...changed, ...incomplete.filter(({ lacking }) => lacking.files)]
  const files = await receiveFiles(context, table, withFiles, receive, problems)
  const prepared = changed.map(({ record, digest, known }): Prepared => {
    const { values, people, cells } = convert(context, table, fields, record, files.items, problems)
    const lacking = { files: files.missing.has(record.id), people, cells, links: {} }
    const pending = pendingOf(context, table, record)
    return { record, known, values, pending, digest: withLacking(digest, lacking) }
  })
  const held = await heldCells(context, table, fields, incomplete)
  for (const one of incomplete) {
    const { values, lacking } = complete(context, table, fields, one, files, held, problems)
    const { record, known } = one
    const digest = withLacking(one.digest, lacking)
    const again = withAddedLinks(context, lacking, seenAgain(context, record, known), known)
    if (Object.keys(values).length === 0) seen.push({ ...again, digest })
    else prepared.push({ record, known, values, pending: JSON.parse(again.pending ?? '{}'), digest })
  }
  await context.report(problems)
  await context.save(store.storing(row.id, scope, seen))
  await insertNew(
    context,
    table,
    prepared.filter(({ known }) => !known),
  )
  await updateChanged(
    context,
    table,
    prepared.filter(({ known }) => known),
  )
}

/** The cells of a record that hold people here as well. */
function* peopleCells(
  table: KnownTable,
  fields: ReadonlyMap<string, Field>,
  record: SourceRecord,
): Generator<{ source: SourceField; field: Field; people: SourcePerson[] }> {
  for (const { source, id, state } of table.fields.values()) {
    const field = fields.get(id)
    const cell = record.cells[source.id]
    if (field && state.mode === 'stored' && fieldType(field.type).people && isPeople(cell))
      yield { source, field, people: cell.people }
  }
}

function countPeople(
  { roster }: RunContext,
  table: KnownTable,
  fields: ReadonlyMap<string, Field>,
  records: readonly SourceRecord[],
): void {
  for (const record of records) {
    for (const { source, people } of peopleCells(table, fields, record))
      for (const person of people) roster.count(person, source.id)
    if (record.createdBy) roster.count(record.createdBy, createdPlace(table.source.id))
  }
}

/** True if cells of a record may have members for whom the user has chosen others since. */
const hasOthers = ({ roster }: RunContext, { fields }: KnownTable, { cells }: SourceRecord): boolean =>
  Object.entries(cells).some(
    ([id, cell]) =>
      isPeople(cell) && fields.has(id) && cell.people.some((person) => roster.earlierOf(person).length > 0),
  )

/** An unchanged record, of which a later step compares the comments if the user wants that. */
function seenAgain(
  { row, connection }: RunContext,
  record: SourceRecord,
  known: ImportedObject,
): ImportedObject {
  const { comments, compareComments } = row.choices
  // A new number of comments changes a record.
  const isCompared = comments && compareComments && connection.comments && record.comments !== 0
  if (!isCompared) return { ...known, run: row.run }
  const pending: PendingValues = { ...JSON.parse(known.pending ?? '{}'), comments: 'some' }
  return { ...known, run: row.run, pending: JSON.stringify(pending) }
}

/** An unchanged record, to which a later step adds the links that it lacks. */
function withAddedLinks(
  { row }: RunContext,
  { links }: Lacking,
  again: ImportedObject,
  known: ImportedObject,
): ImportedObject {
  if (known.run === row.run || Object.keys(links).length === 0) return again
  const pending: PendingValues = { ...JSON.parse(again.pending ?? '{}'), addedLinks: links }
  return { ...again, pending: JSON.stringify(pending) }
}

/** The values of a record's stored fields here, or of some of them, and which of them are incomplete. */
function convert(
  context: RunContext,
  table: KnownTable,
  fields: ReadonlyMap<string, Field>,
  record: SourceRecord,
  items: ReadonlyMap<string, AttachmentItem>,
  problems: ImportProblem[],
  isWanted: (field: Field) => boolean = () => true,
): { values: Values } & Pick<Lacking, 'people' | 'cells'> {
  const values: Values = {}
  const people: Lacking['people'] = {}
  const cells: string[] = []
  for (const { source, id, state } of table.fields.values()) {
    const field = fields.get(id)
    if (!field || state.mode !== 'stored' || !isWanted(field)) continue
    const cell = record.cells[source.id] ?? null
    if (isPeople(cell) && fieldType(field.type).people) {
      const { value, missing } = matchPeople(context.roster, cell.people)
      values[id] = value
      const namesId = table.names.get(source.id)
      if (namesId) values[namesId] = namesOf(missing)
      // `reportPeople` reports them.
      if (missing.length > 0) people[source.id] = { written: value, missing, ...(namesId && { named: true }) }
      continue
    }
    const read = storedValue(context, table, source, field, record, items, problems)
    values[id] = read.value
    if (read.isRefused) cells.push(source.id)
  }
  return { values, people, cells }
}

/** The cell of a stored field here, and whether the field takes no part of it. Reports what it does not take. */
function storedValue(
  context: RunContext,
  table: KnownTable,
  source: SourceField,
  field: Field,
  record: SourceRecord,
  items: ReadonlyMap<string, AttachmentItem>,
  problems: ImportProblem[],
): { value: CellValue; isRefused: boolean } {
  const place = { tableTitle: table.source.title, fieldTitle: source.title, recordId: record.id }
  const cell = record.cells[source.id] ?? null
  let isRefused = false
  const value = toValue(context, field, cell, items, (reason, refused) => {
    isRefused = true
    problems.push(problem('skipped', reason, { ...place, value: refused }))
  })
  return { value, isRefused: isRefused && value === null && !isFiles(cell) }
}

/** What later steps need of a record. */
function pendingOf({ row, connection }: RunContext, table: KnownTable, record: SourceRecord): PendingValues {
  const pending: PendingValues = {}
  for (const { source, state } of table.fields.values()) {
    if (state.mode !== 'link') continue
    const cell = record.cells[source.id]
    const links = isLinks(cell) ? cell.links : []
    // A later run may remove links.
    if (links.length > 0 || row.run > 1) pending.links = { ...pending.links, [source.id]: links }
  }
  for (const field of table.source.fields) {
    if (field.plan.as !== 'computed') continue
    pending.computed ??= {}
    pending.computed[field.id] = record.computed[field.id] ?? null
  }
  // A later run may find that all are gone.
  if (row.choices.comments && connection.comments && (record.comments !== 0 || row.run > 1)) {
    pending.comments = record.comments === 0 ? 'none' : 'some'
  }
  return pending
}

/** What an incomplete record can get now, and what it lacks still. Its links are written by a later step. */
function complete(
  context: RunContext,
  table: KnownTable,
  fields: ReadonlyMap<string, Field>,
  { record, known, lacking }: Incomplete,
  files: ReceivedFiles,
  held: ReadonlyMap<string, Values>,
  problems: ImportProblem[],
): { values: Values; lacking: Lacking } {
  const values: Values = {}
  const still: Lacking = {
    files: lacking.files && files.missing.has(record.id),
    people: {},
    cells: [],
    links: lacking.links,
  }
  if (lacking.files && (!still.files || files.arrived.has(record.id))) {
    const holdsFiles = ({ type }: Field) => fieldType(type).holdsFiles === true
    Object.assign(values, convert(context, table, fields, record, files.items, problems, holdsFiles).values)
  }
  const current = held.get(known.targetId)
  const { roster } = context
  for (const { source, field, people } of peopleCells(table, fields, record)) {
    const lack = lacking.people[source.id]
    const gone = people.flatMap((person) => roster.earlierOf(person))
    if (!lack && gone.length === 0) continue
    if (!current || !(field.id in current)) {
      if (lack) still.people[source.id] = lack
      continue
    }
    const cell = current[field.id] ?? null
    const earlier = lack ? [lack.written] : earlierCells(roster, people)
    // People whom somebody has chosen here stay.
    if (!earlier.includes(cell)) continue
    const { value: found, missing } = matchPeople(roster, people)
    const left = idsIn(cell).filter((id) => !gone.includes(id))
    const value = joinIds([...idsIn(found), ...left])
    // The field may take one person only since.
    if (value !== null && !fieldType(field.type).read(value, field.options).ok) continue
    if (value !== cell) values[field.id] = value
    const namesId = table.names.get(source.id)
    const names = namesId ? (current[namesId] ?? null) : null
    const isOurs = names === (lack?.named ? namesOf(lack.missing) : null)
    if (namesId && isOurs && namesOf(missing) !== names) values[namesId] = namesOf(missing)
    if (missing.length > 0)
      still.people[source.id] = { written: value, missing, ...(namesId && { named: true }) }
  }
  for (const { source, field } of refusedCells(table, fields, lacking)) {
    // A value that somebody has entered here stays.
    if (!current || (current[field.id] ?? null) !== null) continue
    const { value, isRefused } = storedValue(context, table, source, field, record, files.items, problems)
    if (isRefused) still.cells.push(source.id)
    else if (value !== null) values[field.id] = value
  }
  return { values, lacking: still }
}

/** The fields that did not take the values of a record. */
const refusedCells = (
  table: KnownTable,
  fields: ReadonlyMap<string, Field>,
  { cells }: Lacking,
): { source: SourceField; field: Field }[] =>
  cells.flatMap((sourceId) => {
    const known = table.fields.get(sourceId)
    const field = known?.state.mode === 'stored' ? fields.get(known.id) : undefined
    return known && field ? [{ source: known.source, field }] : []
  })

/** The present cells of records that may get values or people now, by the ids of the records here. */
async function heldCells(
  { services, actor, roster, row }: RunContext,
  table: KnownTable,
  fields: ReadonlyMap<string, Field>,
  incomplete: readonly Incomplete[],
): Promise<Map<string, Values>> {
  const fieldIds = new Set<string>()
  const recordIds = incomplete.flatMap(({ record, known, lacking }) => {
    const cells = [...peopleCells(table, fields, record)].filter(({ source, people }) => {
      const lack = lacking.people[source.id]
      const getsNames = lack && !lack.named && row.choices.names && table.names.get(source.id)
      return (
        getsNames ||
        (lack && hasArrived(roster, lack)) ||
        people.some((person) => roster.earlierOf(person).length > 0)
      )
    })
    for (const { source, field } of cells) {
      fieldIds.add(field.id)
      const namesId = table.names.get(source.id)
      if (namesId) fieldIds.add(namesId)
    }
    const refused = refusedCells(table, fields, lacking)
    for (const { field } of refused) fieldIds.add(field.id)
    return cells.length + refused.length > 0 ? [Number(known.targetId)] : []
  })
  if (recordIds.length === 0) return new Map()
  const page = await services.records.list(actor, {
    tableId: table.id,
    fieldIds: [...fieldIds],
    recordIds,
    limit: recordIds.length,
    offset: 0,
  })
  return new Map(
    page.rows.map((cells, at) => [
      String(page.ids[at]),
      Object.fromEntries(page.fieldIds.map((id, column) => [id, cells[column] ?? null])),
    ]),
  )
}

/** A cell as it is written; null where it does not fit, which `refuse` reports. */
export function toValue(
  { roster, kernel }: Pick<RunContext, 'roster' | 'kernel'>,
  field: Field,
  cell: SourceCell,
  items: ReadonlyMap<string, AttachmentItem>,
  refuse: (reason: string, value: string | null) => void,
): CellValue {
  if (cell === null) return null
  if (isLinks(cell)) return null
  const type = fieldType(field.type)
  if (isPeople(cell) && type.people) {
    const { value, missing } = matchPeople(roster, cell.people)
    for (const { email, name } of missing) refuse(m.base_imports_reason_person(), email ?? name)
    return value
  }
  if (isFiles(cell) && type.holdsFiles) {
    // People may have limited the files of the field since an earlier run.
    const limits = attachment.options.parse(field.options)
    const fitting = filesOf(cell).flatMap(({ id }) => {
      const item = items.get(id)
      const reason = item ? limitProblem([item], { ...limits, maxCount: null }) : null
      if (item && reason !== null) refuse(reason, item.title)
      return item && reason === null ? [item] : []
    })
    const max = limits.maxCount ?? kernel.config.attachmentMaxCount
    const count = cell.files.length - filesOf(cell).length + Math.max(fitting.length - max, 0)
    if (count > 0) refuse(m.base_imports_reason_files_over({ max, count }), null)
    return fitting.length === 0 ? null : JSON.stringify(fitting.slice(0, max))
  }
  const plain = plainValue(cell)
  if (plain === null) return null
  const text = typeof plain === 'string' ? plain.replaceAll('\0', '').toWellFormed() : plain
  const read = type.read(text, field.options)
  if (read.ok) return text
  refuse(read.message, String(plain))
  return null
}

/** People by their addresses and files by their names, for fields whose type was changed here; other cells as they are. */
function plainValue(cell: Exclude<SourceCell, { links: string[] }>): CellValue {
  if (isPeople(cell)) return cell.people.map(({ email, name }) => email ?? name ?? '').join(', ') || null
  if (isFiles(cell)) return cell.files.map(({ name }) => name).join(', ') || null
  return cell
}

interface ReceivedFiles {
  /** By the ids of the source. */
  items: Map<string, AttachmentItem>
  /** Ids of records with a file that came now. */
  arrived: Set<string>
  /** Ids of records with a file that could not be fetched, but may be later. */
  missing: Set<string>
}

/** Downloads the files of records, unless they were imported before. */
async function receiveFiles(
  context: RunContext,
  table: KnownTable,
  records: readonly { record: SourceRecord }[],
  receive: ReceiveFile,
  problems: ImportProblem[],
): Promise<ReceivedFiles> {
  const { row, store, signal, state } = context
  const items = new Map<string, AttachmentItem>()
  const [arrived, missing] = [new Set<string>(), new Set<string>()]
  const files = { items, arrived, missing }
  const wanted = records.flatMap(({ record }) =>
    Object.entries(record.cells).flatMap(([fieldId, cell]) =>
      table.fields.has(fieldId) ? filesOf(cell).map((file) => ({ file, record, fieldId })) : [],
    ),
  )
  if (wanted.length === 0) return files
  if (!row.choices.attachments) {
    for (const { file, record, fieldId } of wanted) {
      const fieldTitle = table.fields.get(fieldId)?.source.title ?? null
      const about = { tableTitle: table.source.title, fieldTitle, recordId: record.id, value: file.name }
      problems.push(problem('skipped', m.base_imports_reason_files_left_out(), about))
    }
    return files
  }
  const known = await store.objects(
    row.id,
    'file',
    wanted.map(({ file }) => file.id),
  )
  for (const [id, { digest }] of known) if (digest !== null) items.set(id, JSON.parse(digest))
  const queue = wanted.filter(({ file }) => !known.has(file.id))
  const received: ImportedObject[] = []
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      signal.throwIfAborted()
      const { file, record, fieldId } = next
      if (items.has(file.id)) continue
      try {
        const item = await receive(file, signal)
        items.set(file.id, item)
        arrived.add(record.id)
        state.counts.files += 1
        const { path = '' } = item
        received.push({
          sourceId: file.id,
          targetId: path,
          digest: JSON.stringify(item),
          pending: null,
          run: row.run,
        })
      } catch (error) {
        if (!(error instanceof AppError) || error.status >= 500) throw error
        if (error instanceof HttpFailure) missing.add(record.id)
        const fieldTitle = table.fields.get(fieldId)?.source.title ?? null
        const about = { tableTitle: table.source.title, fieldTitle, recordId: record.id, value: file.name }
        problems.push(problem('skipped', error.message, about))
      }
    }
  }
  await Promise.all(Array.from({ length: DOWNLOADS }, worker))
  await context.save(store.storing(row.id, 'file', received))
  return files
}

/**
 * Inserts records. What is about to be inserted is stored before: after a kill, the log of the base tells whether it was
 * (`completeInsert`).
 */
async function insertNew(context: RunContext, table: KnownTable, prepared: Prepared[]): Promise<void> {
  if (prepared.length === 0) return
  const { row, state, services, actor, store } = context
  const clientId = `import-${crypto.randomUUID()}`
  const tableId = table.id
  state.insert = { tableId: table.source.id, clientId, sourceIds: prepared.map(({ record }) => record.id) }
  await context.save()
  const rows: NewRow[] = prepared.map(({ record, values }) => ({ values, origin: originOf(context, record) }))
  const { inserted } = await services.records.apply(actor, {
    baseId: row.baseId,
    clientId,
    operations: [{ kind: 'insert', tableId, rows }],
  })
  state.insert = null
  progressOf(context, table).added += inserted.length
  await context.save(
    store.storing(
      row.id,
      recordScope(table.source.id),
      prepared.map(({ record, digest, pending }, index) => ({
        sourceId: record.id,
        targetId: String(inserted[index]),
        digest,
        pending: JSON.stringify(pending),
        run: row.run,
      })),
    ),
  )
}

function originOf({ roster }: RunContext, { createdAt, createdBy }: SourceRecord): NewRow['origin'] {
  const ms = createdAt === null ? Number.NaN : Date.parse(createdAt)
  const at = Number.isNaN(ms) ? null : toStored(ms - (ms % 1000))
  const creator = createdBy ? roster.memberOf(createdBy) : null
  return { ...(at !== null && { createdAt: at }), ...(creator && { createdBy: creator.id }) }
}

/** Finds out whether the insert that a kill interrupted was written, and remembers its records then. */
async function completeInsert(context: RunContext): Promise<void> {
  const { state, row, services, actor, store } = context
  if (!state.insert) return
  const { tableId: sourceTableId, clientId, sourceIds } = state.insert
  const table = context.tables.get(sourceTableId)
  if (table) {
    // An empty change under the same id returns what it has written.
    const { inserted } = await services.records.apply(actor, {
      baseId: row.baseId,
      clientId,
      operations: [{ kind: 'insert', tableId: table.id, rows: [] }],
    })
    if (inserted.length === sourceIds.length) {
      const objects = sourceIds.map((sourceId, index) => ({
        sourceId,
        targetId: String(inserted[index]),
        // Unknown: the record is written again when its page is read.
        digest: null,
        pending: null,
        run: row.run,
      }))
      progressOf(context, table).added += objects.length
      await context.save(store.storing(row.id, recordScope(sourceTableId), objects))
    }
  }
  state.insert = null
  await context.save()
}

async function updateChanged(context: RunContext, table: KnownTable, prepared: Prepared[]): Promise<void> {
  if (prepared.length === 0) return
  const { row, services, actor, store } = context
  const live = await existing(
    context,
    table,
    prepared.map(({ known }) => Number(known?.targetId)),
  )
  const kept = prepared.filter(({ known }) => live.has(String(known?.targetId)))
  const gone = prepared.filter(({ known }) => !live.has(String(known?.targetId)))
  const rows: UpdatedRow[] = kept.map(({ known, values }) => ({ id: Number(known?.targetId), values }))
  if (rows.length > 0) {
    await services.records.apply(actor, {
      baseId: row.baseId,
      operations: [{ kind: 'update', tableId: table.id, rows }],
    })
  }
  // One without a digest was counted when it was added.
  progressOf(context, table).changed += kept.filter(({ known }) => known?.digest !== null).length
  await context.report(
    gone.map(({ record }) =>
      problem('skipped', m.base_imports_reason_deleted_here(), {
        tableTitle: table.source.title,
        recordId: record.id,
      }),
    ),
  )
  await context.save(
    store.storing(
      row.id,
      recordScope(table.source.id),
      prepared.map(({ record, digest, known, pending }) => ({
        sourceId: record.id,
        targetId: known?.targetId ?? '',
        // What has changed of a record in the trash is written when it is restored.
        ...(live.has(String(known?.targetId))
          ? { digest, pending: JSON.stringify(pending) }
          : { digest: known?.digest ?? null, pending: null }),
        run: row.run,
      })),
    ),
  )
}

/** Those of the records that are not in the trash, as texts. */
export async function existing(
  { services, actor }: RunContext,
  { id }: KnownTable,
  recordIds: RecordId[],
): Promise<Set<string>> {
  if (recordIds.length === 0) return new Set()
  const { ids } = await services.records.list(actor, {
    tableId: id,
    fieldIds: [],
    recordIds,
    limit: recordIds.length,
    offset: 0,
  })
  return new Set(ids.map(String))
}

/** Records that the source no longer has: moved to the trash, or counted in the report. */
async function handleMissing(context: RunContext, table: KnownTable): Promise<void> {
  const { row, store, services, actor } = context
  if (row.run === 1) return
  const scope = recordScope(table.source.id)
  if (!row.choices.removeMissing) {
    const left = await store.missing(row.id, scope, row.run, 1)
    if (left.length > 0) {
      const about = { tableTitle: table.source.title }
      await context.report([problem('note', m.base_imports_note_missing_kept(), about)])
    }
    return
  }
  for (;;) {
    context.signal.throwIfAborted()
    const missing = await store.missing(row.id, scope, row.run, REMOVED_AT_ONCE)
    if (missing.length === 0) return
    const live = await existing(
      context,
      table,
      missing.map(({ targetId }) => Number(targetId)),
    )
    const ids = [...live].map(Number)
    if (ids.length > 0) {
      await services.records.apply(actor, {
        baseId: row.baseId,
        operations: [{ kind: 'delete', tableId: table.id, ids }],
      })
    }
    progressOf(context, table).removed += ids.length
    await store.forget(
      row.id,
      scope,
      missing.map(({ sourceId }) => sourceId),
    )
    await context.save()
  }
}
