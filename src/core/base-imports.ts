import * as z from 'zod/mini'

/** The products that bases can be imported from. */
export const BASE_SOURCES = [
  'airtable',
  'airtable-link',
  'nocodb',
  'baserow',
  'baserow-export',
  'teable',
  'grist',
] as const
export type BaseSourceKind = (typeof BASE_SOURCES)[number]

/** The products whose comments can be read. */
export const SOURCES_WITH_COMMENTS: ReadonlySet<BaseSourceKind> = new Set([
  'airtable',
  'nocodb',
  'baserow',
  'teable',
])

/** The products that tell who shares a base before its records are read. */
export const SOURCES_WITH_PEOPLE: ReadonlySet<BaseSourceKind> = new Set(['nocodb', 'baserow', 'teable'])

const flag = (fallback: boolean) => z._default(z.boolean(), fallback)

/** What an import brings besides tables, fields and records. */
export const importChoices = z.strictObject({
  views: flag(true),
  comments: flag(true),
  attachments: flag(true),
  /** Keeps the names of people who are not members in a text field beside. */
  names: flag(true),
  /** False: computed fields become plain fields with their values. */
  formulas: flag(true),
  lookups: flag(true),
  rollups: flag(true),
  /** Moves records to the trash that the source no longer has, when it is imported again. */
  removeMissing: flag(false),
  /** Also compares the comments of unchanged records, when it is imported again: a request per record with comments. */
  compareComments: flag(false),
})
export type ImportChoices = z.output<typeof importChoices>

/** `running` survives a restart; `paused` waits for its user; the others are final until the source is imported again. */
export type BaseImportStatus = 'running' | 'paused' | 'completed' | 'failed' | 'cancelled'

/** The steps of a run, in order. */
export const IMPORT_STEPS = ['schema', 'records', 'links', 'computed', 'comments', 'views'] as const
export type ImportStep = (typeof IMPORT_STEPS)[number]

/** Progress of a table of the source. */
export interface TableProgress {
  sourceId: string
  title: string
  /** The table here; null before it is created. */
  tableId: string | null
  read: number
  added: number
  changed: number
  removed: number
  isDone: boolean
}

/** An import of a base as its user sees it. */
export interface BaseImport {
  id: string
  source: BaseSourceKind
  sourceBaseId: string
  title: string
  baseId: string | null
  createsBase: boolean
  choices: ImportChoices
  status: BaseImportStatus
  error: string | null
  /** 1 for the first run. */
  run: number
  step: ImportStep
  tables: TableProgress[]
  /** Numbers of files, comments, views and verified cells of computed fields. */
  counts: { files: number; comments: number; views: number; verified: number }
  /** Lines of the report of the last run. */
  problems: number
  /** True if it can be imported again without new credentials. */
  hasCredentials: boolean
  createdAt: string
  updatedAt: string
}

/** A person of the source, and the member who stands for them here. */
export interface ImportedPerson {
  /** Identifies them within the import. */
  key: string
  /** Their id there; null if the source does not tell it. */
  sourceId: string | null
  email: string | null
  name: string | null
  /** Numbers in the source: of cells with them, of records that they have created, and of comments that were imported. */
  cells: number
  records: number
  comments: number
  /** Found by the e-mail address or chosen; null: nobody. */
  memberId: string | null
  isChosen: boolean
  /** True if cells or comments here have another member, which *Sync again* changes. */
  isBehind: boolean
}

/** True if changes in the source may be imported: the first run was completed, and the last one has ended. */
export const canSyncAgain = ({ status, run }: Pick<BaseImport, 'status' | 'run'>): boolean =>
  status === 'completed' || (status === 'cancelled' && run > 1)

/** A line of the report: what was not imported as it was, and why. */
export interface ImportProblem {
  kind: 'skipped' | 'changed' | 'note'
  tableTitle: string | null
  fieldTitle: string | null
  viewTitle: string | null
  /** Id of the record in the source. */
  recordId: string | null
  reason: string
  value: string | null
}
