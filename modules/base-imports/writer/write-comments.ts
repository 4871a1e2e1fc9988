import { nowIso } from '../../../src/clock.ts'
import { findPerson } from '../../../src/core/fields/people.ts'
import { createId } from '../../../src/core/ids.ts'
import { type ImportedObject, recordScope } from '../store.ts'
import {
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

/** Brings the comments of new and changed records. Those of people without access keep their author's name. */
export async function writeComments(context: RunContext): Promise<void> {
  const { connection, row, state } = context
  if (!connection.comments || !row.choices.comments) return
  const tables = [...context.tables.values()]
  const reached = tables.findIndex(({ source }) => source.id === state.after?.tableId)
  for (const [index, table] of tables.entries()) if (index >= reached) await commentTable(context, table)
  state.after = null
}

async function commentTable(context: RunContext, table: KnownTable): Promise<void> {
  const { store, row, state, signal, connection, kernel } = context
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
    const target = kernel.registry.get(IMPORTED_COMMENTS)
    for (const { sourceId, targetId, pending } of page) {
      if (!(JSON.parse(pending ?? '{}') as PendingValues).hasComments) continue
      signal.throwIfAborted()
      const found = await connection.comments!(row.sourceBaseId, table.source.id, sourceId)
      const known = await store.objects(
        row.id,
        'comment',
        found.map(({ id }) => id),
      )
      const fresh = found.filter(({ id }) => !known.has(id))
      if (fresh.length === 0) continue
      const comments = fresh.map(
        ({ author, text, createdAt }): ImportedComment => ({
          id: createId('comment'),
          baseId: row.baseId,
          tableId: table.id,
          recordId: targetId,
          ...authored(context, author, text),
          createdAt: Number.isNaN(Date.parse(createdAt)) ? nowIso() : new Date(createdAt).toISOString(),
        }),
      )
      const objects = fresh.map(
        ({ id }, index): ImportedObject => ({
          sourceId: id,
          targetId: comments[index]!.id,
          digest: null,
          pending: null,
          run: row.run,
        }),
      )
      state.counts.comments += comments.length
      await context.save([...target.storing(comments), ...store.storing(row.id, 'comment', objects)])
      target.announce(comments[0]!)
    }
    state.after = { tableId: table.source.id, sourceId: last.sourceId }
    await context.save()
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
