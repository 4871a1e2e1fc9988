import type { UserActor } from '../../src/core/actor.ts'
import type { ImportFormat } from '../../src/core/imports/format.ts'
import type { NewConnectedTable, PreparedTable } from '../schema/index.ts'
import type { ImportColumn, UpdateOptions } from './plan.ts'

/** An import that updates records: `keys` are fields. */
export interface UpdateOfRecords extends UpdateOptions {
  keys: string[]
  isPreview: boolean
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
  target:
    | { kind: 'new'; prepared: PreparedTable }
    /** `constants`: defaults of the fields without a column in the file. */
    | {
        kind: 'append'
        tableId: string
        constants: { column: string; value: string | number | boolean }[]
        /** Set if rows may change existing records. */
        update?: UpdateOfRecords
      }
    /** A table of a connected database; `create`: one that is created once the file has been read. */
    | { kind: 'connected'; tableId: string; create?: NewConnectedTable; update?: UpdateOfRecords }
}
