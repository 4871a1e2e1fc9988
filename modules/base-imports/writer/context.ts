import { createHash } from 'node:crypto'
import type { UserActor } from '../../../src/core/actor.ts'
import type { ImportProblem } from '../../../src/core/base-imports.ts'
import { canonicalJson } from '../../../src/core/canonical-json.ts'
import type { Reaction } from '../../../src/core/comments.ts'
import type { FieldTypeName } from '../../../src/core/fields/index.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { defineSlot } from '../../../src/registry.ts'
import type { AuthService } from '../../auth/index.ts'
import type { RecordsService } from '../../records/index.ts'
import type { SchemaService } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { PERSON, type Roster } from '../roster.ts'
import type { SourceBase, SourceConnection, SourceField, SourceTable } from '../source.ts'
import type { ImportedObject, ImportRow, ImportStore, RunState } from '../store.ts'

/** A comment from another product. */
export interface ImportedComment {
  id: string
  baseId: string
  tableId: string
  /** Id of the record here. */
  recordId: string
  text: string
  createdBy: string
  /** Name of an author without an account here. */
  authorName: string | null
  /** ISO 8601. */
  createdAt: string
  /** The first comment of the thread that it replies to; null: it begins a thread. */
  parentId: string | null
  reactions: { emoji: Reaction; userId: string }[]
}

/** An imported comment as it is here now. */
export interface PresentComment {
  text: string
  /** The first comment of its thread; null if it is that itself. */
  parentId: string | null
  /** Ids of the replies to it. */
  replies: string[]
}

/** Writes comments of other products, provided by app.ts from the comments module. */
export interface ImportedComments {
  /** Statements that add reactions to comments; those that are there stay. */
  reacting(commentId: string, reactions: ImportedComment['reactions']): MetaStatement[]
  /** Statements that store comments in the given order; those that exist stay as they are. */
  storing(comments: readonly ImportedComment[]): MetaStatement[]
  /** Those that have not been deleted, by their ids. */
  present(ids: readonly string[]): Promise<Map<string, PresentComment>>
  /** Gives comments another author: a member, or a name that the importer stands for. */
  attribute(ids: readonly string[], author: Pick<ImportedComment, 'createdBy' | 'authorName'>): Promise<void>
  /** The statement that gives a comment another text. */
  changing(id: string, text: string): MetaStatement
  /** Statements that remove comments, without those that others than these reply to. */
  removing(ids: readonly string[]): MetaStatement[]
  /** Tells browsers that the comments of a record have changed. */
  announce(comment: Pick<ImportedComment, 'baseId' | 'tableId' | 'recordId'>): void
}

export const IMPORTED_COMMENTS = defineSlot<ImportedComments>('baseImports.comments')

/** How a field of the source was created here. */
export interface FieldState {
  /** `inverse`: the other side of a link, whose links are written from the first. */
  mode: 'stored' | 'link' | 'inverse' | 'computed' | 'plain'
  /** Its title in the source, to notice a new one; absent if an earlier version has created it. */
  title?: string
  /** The type with which a stored field was created; absent if an earlier version has created it. */
  type?: FieldTypeName
  /** True if it took the place of one of another kind: records without a change have no values in it yet. */
  isReplacement?: true
  /** The candidate of a computed field. */
  candidate?: number
  /** What defines a computed field, to notice changes; absent if an earlier version has created it. */
  definition?: {
    /** Digest of the candidates that the source gives. */
    there: string
    /** Digest of the definition that the field got from them; null while it gets another. */
    here: string | null
  }
  /** The run in which its values were compared, or written if it is plain. */
  settledIn?: number
}

/** A field of the source with its counterpart here. */
export interface KnownField {
  source: SourceField
  id: string
  state: FieldState
}

/** A table of the source with its counterpart here. */
export interface KnownTable {
  source: SourceTable
  id: string
  /** By the ids of the source. */
  fields: Map<string, KnownField>
  /** Ids of the fields with the names of people without a member, by the fields of the source; null: deleted here. */
  names: Map<string, string | null>
  /** Ids in the source of fields whose counterparts were deleted here. */
  deleted: Set<string>
}

/** Links and computed values of a record that later steps need. */
export interface PendingValues {
  /** All links of a field. */
  links?: Record<string, string[]>
  /** Links that an earlier run could not make, which are added to those of an unchanged record. */
  addedLinks?: Record<string, string[]>
  computed?: Record<string, unknown>
  /** Whether it has comments in the source; absent if they need not be read. */
  comments?: 'some' | 'none'
}

/** What the steps of a run share. */
export interface RunContext {
  kernel: Kernel
  services: {
    auth: Pick<AuthService, 'peopleOf'>
    schema: SchemaService
    views: ViewsService
    records: RecordsService
  }
  store: ImportStore
  row: ImportRow & { baseId: string }
  state: RunState
  actor: UserActor
  connection: SourceConnection
  base: SourceBase
  /** By the ids of the source; filled by the first step. */
  tables: Map<string, KnownTable>
  roster: Roster
  signal: AbortSignal
  /** Adds lines to the report. */
  report(problems: ImportProblem[]): Promise<void>
  /** Stores where the run goes on, together with what a step has done, in one transaction. */
  save(statements?: MetaStatement[]): Promise<void>
}

/** A line of the report. */
export const problem = (
  kind: ImportProblem['kind'],
  reason: string,
  about: Partial<Omit<ImportProblem, 'kind' | 'reason'>> = {},
): ImportProblem => ({
  tableTitle: null,
  fieldTitle: null,
  viewTitle: null,
  recordId: null,
  value: null,
  ...about,
  kind,
  reason,
})

/** The statement that stores the counterpart of a field. */
export function storingField(context: RunContext, { source, id, state }: KnownField): MetaStatement[] {
  const object: ImportedObject = {
    sourceId: source.id,
    targetId: id,
    digest: JSON.stringify({ ...state, title: source.title }),
    pending: null,
    run: context.row.run,
  }
  return context.store.storing(context.row.id, 'field', [object])
}

/** Statements that store what has been counted of people since. */
export const storingPeople = ({ store, row, roster }: RunContext): MetaStatement[] =>
  store.storing(row.id, PERSON, roster.takeUnsaved())

/** The id here of a field of the source; null before it is created. */
export function fieldIdOf({ tables }: RunContext, sourceId: string): string | null {
  for (const { fields } of tables.values()) {
    const known = fields.get(sourceId)
    if (known) return known.id
  }
  return null
}

/** Of a definition or setting, to notice a new one. */
export const digestOf = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('base64url')
