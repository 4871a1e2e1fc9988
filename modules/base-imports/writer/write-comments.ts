import { nowIso } from '../../../src/clock.ts'
import { findPerson } from '../../../src/core/fields/people.ts'
import { createId } from '../../../src/core/ids.ts'
import { commentScope, type ImportedObject, recordScope } from '../store.ts'
import {
  digestOf,
  IMPORTED_COMMENTS,
  type ImportedComment,
  type KnownTable,
  type PendingValues,
  type RunContext,
} from './context.ts'

const RECORDS_AT_ONCE = 50
/** Longest text of a comment, as in the module of comments. */
const MAX_TEXT = 10_000
const MAX_NAME = 200

/**
 * Brings the comments of new and changed records. Those of people without access keep their author's name. A comment that was
 * edited in the source gets its new text, and one that was deleted there is removed with other missing things, unless it was
 * edited or answered here.
 */
export async function writeComments(context: RunContext): Promise<void> {
  const { connection, row, state } = context
  if (!connection.comments || !row.choices.comments) return
  const tables = [...context.tables.values()]
  const reached = tables.findIndex(({ source }) => source.id === state.after?.tableId)
  for (const [index, table] of tables.entries()) if (index >= reached) await commentTable(context, table)
  state.after = null
}

async function commentTable(context: RunContext, table: KnownTable): Promise<void> {
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
    for (const record of page) {
      const { comments } = JSON.parse(record.pending ?? '{}') as PendingValues
      if (comments === undefined) continue
      signal.throwIfAborted()
      await commentRecord(context, table, record, comments === 'some')
    }
    state.after = { tableId: table.source.id, sourceId: last.sourceId }
    await context.save()
  }
}

async function commentRecord(
  context: RunContext,
  table: KnownTable,
  { sourceId, targetId: recordId }: ImportedObject,
  hasComments: boolean,
): Promise<void> {
  const { store, row, state, connection, kernel } = context
  const target = kernel.registry.get(IMPORTED_COMMENTS)
  const scope = commentScope(table.source.id, sourceId)
  const found = hasComments ? await connection.comments!(row.sourceBaseId, table.source.id, sourceId) : []
  if (found === null) return
  const known = await store.objects(row.id, scope)
  const written = found.map(({ id, author, text, createdAt }) => {
    const of = authored(context, author, text)
    return { id, createdAt, of, digest: digestOf(of.text) }
  })
  const fresh = written.filter(({ id }) => !known.has(id))
  const edited = written.filter(({ id, digest }) => known.has(id) && known.get(id)?.digest !== digest)
  const there = new Set(found.map(({ id }) => id))
  const missing = row.choices.removeMissing
    ? [...known.values()].filter((one) => !there.has(one.sourceId))
    : []
  if (fresh.length + edited.length + missing.length === 0) return
  const comments = fresh.map(
    ({ createdAt, of }): ImportedComment => ({
      id: createId('comment'),
      baseId: row.baseId,
      tableId: table.id,
      recordId,
      ...of,
      createdAt: Number.isNaN(Date.parse(createdAt)) ? nowIso() : new Date(createdAt).toISOString(),
    }),
  )
  const object = (id: string, targetId: string, digest: string): ImportedObject => ({
    sourceId: id,
    targetId,
    digest,
    pending: null,
    run: row.run,
  })
  const before = [...edited.map(({ id }) => known.get(id)!), ...missing]
  const texts = await target.unanswered(before.map(({ targetId }) => targetId))
  const untouched = new Set(
    before.filter(({ targetId, digest }) => {
      const text = texts.get(targetId)
      return text !== undefined && digestOf(text) === digest
    }),
  )
  const changed = edited.filter(({ id }) => untouched.has(known.get(id)!))
  const removed = missing.filter((one) => untouched.has(one))
  state.counts.comments += comments.length
  await context.save([
    ...target.storing(comments),
    ...changed.map(({ id, of }) => target.changing(known.get(id)!.targetId, of.text)),
    ...(removed.length > 0 ? target.removing(removed.map(({ targetId }) => targetId)) : []),
    ...store.forgetting(
      row.id,
      scope,
      removed.map((one) => one.sourceId),
    ),
    ...store.storing(row.id, scope, [
      ...fresh.map(({ id, digest }, index) => object(id, comments[index]!.id, digest)),
      ...changed.map(({ id, digest }) => object(id, known.get(id)!.targetId, digest)),
    ]),
  ])
  if (comments.length + changed.length + removed.length > 0) {
    target.announce({ baseId: row.baseId, tableId: table.id, recordId })
  }
}

/** The author of a comment here; the importer, with the author's name, where they have no access. */
function authored(
  { people, actor }: RunContext,
  { email, name }: { email: string | null; name: string | null },
  text: string,
): Pick<ImportedComment, 'createdBy' | 'authorName' | 'text'> {
  const plain = text.replaceAll('\0', '').toWellFormed().slice(0, MAX_TEXT)
  const person = email === null ? null : findPerson(people, email)
  if (person) return { createdBy: person.id, authorName: null, text: plain }
  const author = (name ?? email)?.replaceAll('\0', '').toWellFormed().slice(0, MAX_NAME) || null
  return { createdBy: actor.id, authorName: author, text: plain }
}
