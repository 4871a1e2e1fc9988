import { nowIso } from '../../../src/clock.ts'
import type { ImportProblem } from '../../../src/core/base-imports.ts'
import { MAX_COMMENT_LENGTH, REACTIONS, splitComment } from '../../../src/core/comments.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Person } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import { personHash } from '../roster.ts'
import { type SourceComment, type SourcePerson, type SourceReaction, SourceRejection } from '../source.ts'
import { COMMENT_NOTE, commentScope, type ImportedObject, recordScope } from '../store.ts'
import {
  digestOf,
  IMPORTED_COMMENTS,
  type ImportedComment,
  type KnownTable,
  type PendingValues,
  type PresentComment,
  problem,
  type RunContext,
  storingPeople,
} from './context.ts'

const RECORDS_AT_ONCE = 50
const MAX_NAME = 200

/**
 * Brings the comments of new and changed records, with the replies and reactions to them. Those of people without access keep
 * their author's name. A comment that was edited in the source gets its new text, and one that was deleted there is removed
 * with other missing things, unless it was edited or answered here.
 */
export async function writeComments(context: RunContext): Promise<void> {
  const { connection, row, state } = context
  await attributeComments(context)
  if (!connection.comments || !row.choices.comments) return
  const tables = [...context.tables.values()]
  const reached = tables.findIndex(({ source }) => source.id === state.after?.tableId)
  for (const [index, table] of tables.entries()) if (index >= reached) await commentTable(context, table)
  state.after = null
}

/** Gives the comments of earlier runs to the members who stand for their authors now. */
async function attributeComments(context: RunContext): Promise<void> {
  const { roster, store, row, actor, kernel, signal } = context
  for (const { key, person, author } of roster.wronglyNamed()) {
    const name = person.name ?? person.email ?? ''
    for await (const ids of store.commentsBy(row.id, personHash(key))) {
      signal.throwIfAborted()
      await kernel.registry.get(IMPORTED_COMMENTS).attribute(ids, nameOrMember(author, name, actor.id))
    }
    roster.setAuthor(key, author?.id ?? null)
    await context.save(storingPeople(context))
  }
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

/** A part of a comment of the source, which is a comment here. Only long comments have more than one. */
interface Part {
  /** That of the source, with a number from the second part on. */
  id: string
  /** 0 for the first one. */
  at: number
  comment: SourceComment
  text: string
  digest: string
}

const partsOf = (comment: SourceComment): Part[] =>
  splitComment(cleanText(comment.text)).map((text, at) => ({
    id: at === 0 ? comment.id : `${comment.id} ${at + 1}`,
    at,
    comment,
    text,
    digest: digestOf(text),
  }))

/** What is known of an imported comment besides its text, behind the digest of that. */
interface CommentNote {
  /** Of its author, see `personHash`. */
  by?: string
  /** Reactions that were brought with it. */
  reactions?: string[]
}

const withNote = (digest: string, note: CommentNote): string =>
  `${digest}${COMMENT_NOTE}${JSON.stringify(note)}`

function readNote({ digest }: ImportedObject): { digest: string; note: CommentNote } {
  const [text = '', note] = (digest ?? '').split(COMMENT_NOTE)
  return { digest: text, note: note === undefined ? {} : JSON.parse(note) }
}

const reactionKey = ({ emoji, userId }: ImportedComment['reactions'][number]): string => `${emoji} ${userId}`

/** The comment of which an imported one is a part. */
const commentIdOf = (partId: string): string => partId.split(' ', 1)[0] ?? partId

/** The comments of a record there and here, and what is to be done. */
interface Compared {
  /** Those of the source. */
  byId: Map<string, SourceComment>
  /** Those that were imported before, by the ids of their parts. */
  known: Map<string, ImportedObject>
  present: Map<string, PresentComment>
  fresh: Part[]
  changed: Part[]
  /** Comments that have got reactions since they were imported. */
  reacted: { part: Part; reactions: ImportedComment['reactions'] }[]
  removed: ImportedObject[]
}

async function commentRecord(
  context: RunContext,
  table: KnownTable,
  { sourceId, targetId: recordId }: ImportedObject,
  hasComments: boolean,
): Promise<void> {
  const { store, row, state, kernel, roster } = context
  const target = kernel.registry.get(IMPORTED_COMMENTS)
  const scope = commentScope(table.source.id, sourceId)
  const found = hasComments ? await commentsThere(context, table, sourceId) : []
  if (found === null) return
  const known = await store.objects(row.id, scope)
  await context.report(found.flatMap((comment) => lostReactions(context, table, comment)))
  const compared = await compare(context, found, known)
  if (compared === null) return
  const { changed, reacted, removed } = compared
  const { added, refused } = newComments(context, table, recordId, compared)
  await context.report(reportOf(table, sourceId, compared, added, refused))
  for (const { part } of added) {
    if (part.at > 0) continue
    state.counts.comments += 1
    roster.countComment(part.comment.author)
  }
  const object = (part: Part, targetId: string): ImportedObject => ({
    sourceId: part.id,
    targetId,
    digest: noted(context, part),
    pending: null,
    run: row.run,
  })
  const comments = added.map(({ comment }) => comment)
  await context.save([
    // Replies follow the comments that they answer.
    ...target.storing(comments.filter(({ parentId }) => parentId === null)),
    ...target.storing(comments.filter(({ parentId }) => parentId !== null)),
    ...changed.map(({ id, text }) => target.changing(known.get(id)!.targetId, text)),
    ...reacted.flatMap(({ part, reactions }) => target.reacting(known.get(part.id)!.targetId, reactions)),
    ...(removed.length > 0 ? target.removing(removed.map(({ targetId }) => targetId)) : []),
    ...store.forgetting(
      row.id,
      scope,
      removed.map((one) => one.sourceId),
    ),
    ...store.storing(row.id, scope, [
      ...added.map(({ part, comment }) => object(part, comment.id)),
      ...[...new Set([...changed, ...reacted.map(({ part }) => part)])].map((part) =>
        object(part, known.get(part.id)!.targetId),
      ),
    ]),
    ...storingPeople(context),
  ])
  if (added.length + changed.length + reacted.length + removed.length > 0) {
    target.announce({ baseId: row.baseId, tableId: table.id, recordId })
  }
}

/** The comments of a record in the source; null if it does not give them, which is reported once per table. */
async function commentsThere(
  { connection, row, report }: RunContext,
  { source }: KnownTable,
  recordId: string,
): Promise<SourceComment[] | null> {
  try {
    return await connection.comments!(row.sourceBaseId, source.id, recordId)
  } catch (error) {
    if (!(error instanceof SourceRejection)) throw error
    const reason = m.base_imports_reason_comments_refused({ reason: error.message })
    await report([problem('skipped', reason, { tableTitle: source.title })])
    return null
  }
}

/** The digest of a comment with what is known besides. */
const noted = (context: RunContext, { at, comment, digest }: Part): string =>
  withNote(digest, {
    by: personHash(context.roster.keyOf(comment.author)),
    ...(at === 0 && { reactions: reactionsOf(context, comment).kept.map(reactionKey) }),
  })

/** Null if nothing has changed in the source. */
async function compare(
  context: RunContext,
  found: readonly SourceComment[],
  known: Map<string, ImportedObject>,
): Promise<Compared | null> {
  const { row, kernel } = context
  const byId = new Map(found.map((comment) => [comment.id, comment]))
  const parts = [...byId.values()].flatMap(partsOf)
  const partIds = new Set(parts.map(({ id }) => id))
  const fresh = parts.filter(({ id }) => !known.has(id))
  const before = new Map([...known].map(([id, object]) => [id, readNote(object)]))
  const edited = parts.filter(({ id, digest }) => known.has(id) && before.get(id)?.digest !== digest)
  const reacted = parts.flatMap((part) => {
    if (part.at > 0 || !known.has(part.id)) return []
    const brought = before.get(part.id)?.note.reactions ?? []
    const reactions = reactionsOf(context, part.comment).kept.filter(
      (reaction) => !brought.includes(reactionKey(reaction)),
    )
    return reactions.length > 0 ? [{ part, reactions }] : []
  })
  // A comment that was shortened lacks its last parts.
  const missing = [...known.values()].filter(
    ({ sourceId }) =>
      !partIds.has(sourceId) && (row.choices.removeMissing || byId.has(commentIdOf(sourceId))),
  )
  if (fresh.length + edited.length + reacted.length + missing.length === 0) return null
  const imported = new Set([...known.values()].map(({ targetId }) => targetId))
  const present = await kernel.registry.get(IMPORTED_COMMENTS).present([...imported])
  /** True if it was deleted, edited or answered here. */
  const isTouched = ({ sourceId, targetId }: ImportedObject): boolean => {
    const here = present.get(targetId)
    return (
      !here ||
      digestOf(here.text) !== before.get(sourceId)?.digest ||
      here.replies.some((id) => !imported.has(id))
    )
  }
  const touched = new Set([...known.values()].filter(isTouched).map(({ sourceId }) => commentIdOf(sourceId)))
  const going = missing.filter(({ sourceId }) => !touched.has(commentIdOf(sourceId)))
  const goingIds = new Set(going.map(({ targetId }) => targetId))
  return {
    byId,
    known,
    present,
    fresh: fresh.filter(({ at, comment }) => at === 0 || !touched.has(comment.id)),
    changed: edited.filter(({ comment }) => !touched.has(comment.id)),
    reacted: reacted.filter(({ part }) => present.has(known.get(part.id)!.targetId)),
    // One with replies that stay stays as well.
    removed: going.filter(({ targetId }) => present.get(targetId)?.replies.every((id) => goingIds.has(id))),
  }
}

interface AddedComment {
  part: Part
  comment: ImportedComment
}

/** The new comments as they are stored, and those that are not: replies to comments that were deleted here. */
function newComments(
  context: RunContext,
  table: KnownTable,
  recordId: string,
  { byId, known, present, fresh }: Compared,
): { added: AddedComment[]; refused: Part[] } {
  const newIds = new Map(fresh.map(({ id }) => [id, createId('comment')]))
  /** The comment here that begins the thread: null for the new one itself, undefined for one that was deleted. */
  const threadOf = ({ at, comment }: Part): string | null | undefined => {
    const first = firstOf(comment, byId, (id) => known.has(id))
    if (first === comment.id && at === 0) return null
    const old = known.get(first)
    if (!old) return newIds.get(first)
    const here = present.get(old.targetId)
    return here && (here.parentId ?? old.targetId)
  }
  const added: AddedComment[] = []
  const refused: Part[] = []
  for (const part of fresh) {
    const parentId = threadOf(part)
    if (parentId === undefined) refused.push(part)
    else
      added.push({
        part,
        comment: importedComment(context, table, recordId, part, newIds.get(part.id)!, parentId),
      })
  }
  return { added, refused }
}

/** Lines of the report on comments that were changed or left out. */
function reportOf(
  table: KnownTable,
  recordId: string,
  { changed }: Compared,
  added: readonly AddedComment[],
  refused: readonly Part[],
): ImportProblem[] {
  const about = ({ comment }: Part) => ({ tableTitle: table.source.title, recordId, value: comment.text })
  const isWhole = ({ at }: Part): boolean => at === 0
  const orphans = added.filter(({ part, comment }) => comment.parentId === null && part.comment.parentId)
  const long = [...added.map(({ part }) => part), ...changed].filter(
    (part) => isWhole(part) && part.text.length < cleanText(part.comment.text).length,
  )
  return [
    ...refused
      .filter(isWhole)
      .map((part) => problem('skipped', m.base_imports_reason_thread_deleted(), about(part))),
    ...orphans.map(({ part }) => problem('changed', m.base_imports_note_orphan_reply(), about(part))),
    ...long.map((part) =>
      problem('changed', m.base_imports_note_long_comment({ max: MAX_COMMENT_LENGTH }), about(part)),
    ),
  ]
}

/**
 * The id of the comment that begins the thread of one: of its own if it answers none, or one that is not there. Threads have one
 * level here.
 */
function firstOf(
  comment: SourceComment,
  byId: ReadonlyMap<string, SourceComment>,
  wasImported: (id: string) => boolean,
): string {
  const passed = new Set([comment.id])
  for (let current = comment; ; ) {
    const { id, parentId } = current
    if (parentId == null) return id
    // Comments that answer each other begin threads of their own.
    if (passed.has(parentId)) return comment.id
    passed.add(parentId)
    const parent = byId.get(parentId)
    if (!parent) return wasImported(parentId) ? parentId : id
    current = parent
  }
}

function importedComment(
  context: RunContext,
  table: KnownTable,
  recordId: string,
  { at, comment, text }: Part,
  id: string,
  parentId: string | null,
): ImportedComment {
  const ms = Date.parse(comment.createdAt)
  return {
    id,
    baseId: context.row.baseId,
    tableId: table.id,
    recordId,
    ...authorOf(context, comment.author),
    text,
    // Parts are shown in the order of their times.
    createdAt: Number.isNaN(ms) ? nowIso() : new Date(ms + at).toISOString(),
    parentId,
    reactions: at === 0 ? reactionsOf(context, comment).kept : [],
  }
}

/** The author of a comment here; the importer, with the author's name, where they have no access. */
function authorOf(
  { roster, actor }: RunContext,
  author: SourcePerson,
): Pick<ImportedComment, 'createdBy' | 'authorName'> {
  return nameOrMember(roster.memberOf(author), author.name ?? author.email ?? '', actor.id)
}

const nameOrMember = (
  member: Person | null,
  name: string,
  importerId: string,
): Pick<ImportedComment, 'createdBy' | 'authorName'> =>
  member
    ? { createdBy: member.id, authorName: null }
    : { createdBy: importerId, authorName: cleanText(name.slice(0, MAX_NAME)) || null }

/** The reactions of members, each once, and the others. */
function reactionsOf(
  { roster }: RunContext,
  { reactions = [] }: SourceComment,
): { kept: ImportedComment['reactions']; lost: { reaction: SourceReaction; isKnown: boolean }[] } {
  const kept = new Map<string, ImportedComment['reactions'][number]>()
  const lost: { reaction: SourceReaction; isKnown: boolean }[] = []
  for (const reaction of reactions) {
    const emoji = REACTIONS.find((one) => plainEmoji(one) === plainEmoji(reaction.emoji))
    const person = roster.memberOf(reaction.person)
    if (emoji && person) kept.set(`${person.id} ${emoji}`, { emoji, userId: person.id })
    else lost.push({ reaction, isKnown: emoji !== undefined })
  }
  return { kept: [...kept.values()], lost }
}

/** An emoji without the marks of its colour and style. */
const plainEmoji = (emoji: string): string => emoji.replace(/[\ufe0f\u{1f3fb}-\u{1f3ff}]/gu, '')

/** Lines of the report on reactions that comments here cannot have: one for each emoji or person of a table. */
function lostReactions(context: RunContext, table: KnownTable, comment: SourceComment): ImportProblem[] {
  const about = { tableTitle: table.source.title }
  return reactionsOf(context, comment).lost.map(({ reaction: { emoji, person }, isKnown }) =>
    isKnown
      ? problem('skipped', m.base_imports_reason_reaction_person(), {
          ...about,
          value: person.email ?? person.name,
        })
      : problem('skipped', m.base_imports_reason_reaction(), { ...about, value: emoji }),
  )
}

/** A text that all databases can store. */
const cleanText = (text: string): string => text.replaceAll('\0', '').toWellFormed()
