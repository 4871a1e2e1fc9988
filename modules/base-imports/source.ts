import type { ImportProblem } from '../../src/core/base-imports.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import type { Filter } from '../../src/core/filters/index.ts'
import type { RowHeight, Sort } from '../../src/core/model.ts'
import type { RowColoring, ViewKind } from '../../src/core/views/index.ts'
import type { HttpClient } from '../../src/http.ts'
import { m } from '../../src/messages.gen.ts'

// Ids in these types are those of the source.

export interface SourcePerson {
  /** Null if the source does not tell it. */
  id: string | null
  email: string | null
  name: string | null
}

/** A file of a cell. */
export interface SourceFile {
  /** Stable for unchanged content, unlike `url`. */
  id: string
  /** Address for a limited time; null if `read` gives the content. */
  url: string | null
  name: string
  /** Bytes; null if unknown. */
  size: number | null
  read?: () => AsyncIterable<Uint8Array>
}

/** A stored value of a record in terms of the field's type here, before it is checked. */
export type SourceCell =
  | CellValue
  | { people: SourcePerson[] }
  | { files: SourceFile[] }
  /** Ids of records of the linked table. */
  | { links: string[] }

/** A stored field. */
export interface StoredPlan {
  as: 'stored'
  type: FieldTypeName
  options: FieldOptions
}

/** One side of a link; the other side, if the source has it, names this one as its inverse. */
export interface LinkPlan {
  as: 'link'
  kind: 'mm' | 'hm' | 'bt' | 'oo'
  tableId: string
  inverseFieldId: string | null
  /** True for the side that is created with the other one, and whose links the source does not give. */
  isSecondSide?: boolean
}

/** A field that is computed here, if one of the candidates gives the values of the source. */
export interface ComputedPlan {
  as: 'computed'
  group: 'lookups' | 'rollups' | 'formulas'
  /** Definitions to try, the most likely first. Empty: none is known, see `problem`. */
  candidates: Candidate[]
  /** Fields that the candidates read. */
  dependsOn: string[]
  /** The field with the values of the source that is created where no candidate gives them. */
  plain: { type: FieldTypeName; options: FieldOptions; cell(value: unknown): SourceCell }
  /** True if nothing there may be a 0 here: an aggregate over no records. */
  emptyIsZero?: boolean
  /** Why its values are not compared with those of the source, for the report. */
  notCompared?: string | undefined
  /** True if the result depends on the time at which it is computed. */
  readsClock?: boolean
  /** Why there is no candidate. */
  problem?: string
}

export interface Candidate {
  type: FieldTypeName
  /** @param idOf the id here of a field of the source */
  options(idOf: (fieldId: string) => string): FieldOptions
}

export interface SkippedPlan {
  as: 'skipped'
  reason: string
}

export interface SourceField {
  id: string
  title: string
  description: string | null
  plan: StoredPlan | LinkPlan | ComputedPlan | SkippedPlan
  /** A remark for the report. */
  note?: string
  /** True for a field that only formulas here need: the source has none, and no view shows it. */
  isHelper?: true
}

export interface SourceView {
  id: string
  title: string
  kind: ViewKind
  /** The visible fields in order; null: all. */
  visible: string[] | null
  filter?: Filter | null
  sorts?: Sort[]
  groups?: Sort[]
  coloring?: RowColoring | null
  rowHeight?: RowHeight
  /** Widths of columns in pixels, by field. */
  widths?: Record<string, number>
  /** Options of the kind, with the ids of the source. */
  options?: object
  /** Parts that have no counterpart here. */
  notes: string[]
}

export interface SourceTable {
  id: string
  title: string
  description: string | null
  /** The field that names records. */
  primaryFieldId: string | null
  fields: SourceField[]
  views: SourceView[]
  /** Null if unknown. */
  recordCount: number | null
}

/** A remark of the report on the whole base, or on a table. */
export const sourceNote = (reason: string, tableTitle: string | null = null): ImportProblem => ({
  kind: 'note',
  tableTitle,
  fieldTitle: null,
  viewTitle: null,
  recordId: null,
  reason,
  value: null,
})

/** The structure of a base. */
export interface SourceBase {
  title: string
  tables: SourceTable[]
  problems: ImportProblem[]
}

export interface SourceRecord {
  id: string
  /** ISO 8601; null if unknown. */
  createdAt: string | null
  createdBy: SourcePerson | null
  /** Values of stored fields and links; absent ones are empty. */
  cells: Record<string, SourceCell>
  /** Values of computed fields, as JSON. */
  computed: Record<string, unknown>
  /** The number of its comments; null if unknown. */
  comments: number | null
}

/** A record without values. */
export const emptyRecord = (id: string, createdAt: string | null = null): SourceRecord => ({
  id,
  createdAt,
  createdBy: null,
  cells: {},
  computed: {},
  comments: null,
})

export interface SourcePage {
  records: SourceRecord[]
  /** Where the next page begins; null after the last. */
  next: string | null
}

export interface SourceComment {
  id: string
  author: SourcePerson
  /** Plain text or Markdown. */
  text: string
  /** ISO 8601. */
  createdAt: string
  /** The comment that it answers. */
  parentId?: string | null | undefined
  reactions?: SourceReaction[]
}

export interface SourceReaction {
  emoji: string
  person: SourcePerson
}

/** A signed-in connection to a source. Every call may throw `SourceFailure`. */
export interface SourceConnection {
  /** The bases that the credentials may read, by title. */
  bases(): Promise<{ id: string; title: string }[]>
  describe(baseId: string): Promise<SourceBase>
  /** Those who share a base, without reading its records; empty if the credentials give no access to them. */
  people?(baseId: string): Promise<SourcePerson[]>
  /**
   * A page of records, in a stable order.
   *
   * @throws CursorExpired if the pages must be read from the beginning
   */
  records(baseId: string, table: SourceTable, cursor: string | null): Promise<SourcePage>
  /**
   * Null if the source has no comments, or the credentials give no access to them.
   *
   * @throws SourceRejection if the record was deleted there, or the credentials give no access to its comments
   */
  comments: ((baseId: string, tableId: string, recordId: string) => Promise<SourceComment[] | null>) | null
  close?(): void
}

/** What a connection may use. */
export interface SourceContext {
  http: HttpClient
  /** Address of Airtable's API. */
  airtableApi: string
  airtablePerSecond: number
  /** Path of an upload. @throws NOT_FOUND */
  upload(uploadId: string): Promise<{ path: string; fileName: string }>
  signal: AbortSignal
}

/** The pages of a table must be read from the beginning. */
export class CursorExpired extends Error {}

/** A request that the source has rejected with a status other than 2xx, and not only for now. */
export class SourceRejection extends AppError {
  constructor(
    readonly sourceStatus: number,
    message: string,
  ) {
    super('BAD_REQUEST', message)
  }
}

/** A page that never ends is a fault of the source: no base has more records. */
export const MAX_PAGES = 200_000

/** Most pages of a list of bases, collaborators, or comments of a record. */
const MAX_LIST_PAGES = 10_000

/**
 * All entries of a list in pages.
 *
 * @param page the entries at a cursor, and where the next ones begin; null: after the last
 * @throws BAD_REQUEST if the pages do not end
 */
export async function wholeList<T>(
  page: (cursor: string | null) => Promise<{ entries: readonly T[]; next: string | null }>,
): Promise<T[]> {
  const found: T[] = []
  let cursor: string | null = null
  for (let pages = 0; pages < MAX_LIST_PAGES; pages++) {
    const { entries, next }: { entries: readonly T[]; next: string | null } = await page(cursor)
    found.push(...entries)
    if (next === null || next === cursor) return found
    cursor = next
  }
  throw badRequest(m.base_imports_error_endless_list())
}
