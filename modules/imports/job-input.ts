import type { UserActor } from '../../src/core/actor.ts'
import type { ImportFormat } from '../../src/core/imports/format.ts'
import type { NewConnectedTable, PreparedTable } from '../schema/index.ts'
import type { Constant, ImportColumn, UpdateOptions } from './plan.ts'

/** An import that updates records: `keys` are fields. */
export interface UpdateOfRecords extends UpdateOptions {
  keys: string[]
  /** Set by version 0.2.0, whose jobs may go on after an update; see `isPreview`. */
  isPreview?: boolean
}

/** Input of an import's job. */
export interface ImportInput {
  /** May name stored files that they can read. */
  actor: UserActor
  baseId: string
  uploadId: string
  fileName: string
  format: ImportFormat
  width: number
  columns: ImportColumn[]
  timeZone: string
  /** Of the jobs that were started together. */
  group?: string
  /** True if rows of other imports belong to those of this one. */
  keepsRows?: boolean
  target:
    | { kind: 'new'; prepared: PreparedTable }
    /** `constants`: defaults of the fields without a column in the file. */
    | {
        kind: 'append'
        tableId: string
        constants: Constant[]
        /** Set if rows may change existing records. */
        update?: UpdateOfRecords
        isPreview?: boolean
      }
    /** A table of a connected database; `create`: one that is created once the file has been read. */
    | {
        kind: 'connected'
        tableId: string
        create?: NewConnectedTable
        update?: UpdateOfRecords
        isPreview?: boolean
      }
}

/** True if an import only counts what it would do. */
export const isPreview = ({ target }: Pick<ImportInput, 'target'>): boolean =>
  target.kind !== 'new' && (target.isPreview ?? target.update?.isPreview ?? false)
