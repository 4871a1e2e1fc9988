import type { ColumnDefinition, Engine } from '../../../src/dialects/dialect.ts'
import type { JobContext } from '../../../src/jobs.ts'
import type { ImportInput } from '../job-input.ts'
import type { ImportOutcome, ImportPlan } from '../plan.ts'

/** One run of an import's job. */
export interface TargetRun
  extends Pick<JobContext, 'jobId' | 'signal' | 'remembered' | 'remember' | 'awayFor'> {
  /** The base's home, which has the staging table. */
  home: Engine
  staging: string
  reportPath: string
  /** File with the records of an import's rows, see `row-records.ts`. */
  rowsPath(jobId: string): string
  /** Reports how many of the rows are in the table. */
  progress(done: number, total: number): void
}

/** An import's target in one run. */
export interface OpenTarget {
  stagingColumns: ColumnDefinition[]
  /** What the thread does with the rows. */
  plan: Pick<ImportPlan, 'constants' | 'rowColumn' | 'finish'>
  /** True if the thread writes the rows to the table, so that they count as done. */
  isFilledByThread: boolean
  /** Called under the write lease before each write of the thread. @throws to end the import */
  verify(): Promise<void>
  /** Makes the rows visible that the thread has left, and announces them. */
  complete(outcome: ImportOutcome): Promise<CompletedImport>
  /** True if the staging table is needed to go on after the error. */
  keepsStaging(error: unknown): boolean
}

/** The table that was filled, and what its report says. */
export interface CompletedImport {
  tableId: string
  title: string
  outcome: ImportOutcome
}

/** Where an import writes its rows: to a base's home, or to a connected database. */
export interface ImportTarget {
  open(input: ImportInput, run: TargetRun): Promise<OpenTarget>
  /**
   * Number of imported records if an interrupted run had already ended; else null.
   *
   * @param hasUpload false once the file is deleted, which a run does at its end
   */
  findFinished(input: ImportInput, jobId: string, hasUpload: boolean): Promise<number | null>
  /** The table's id and whether the import has created it. */
  tableOf(input: ImportInput): { tableId: string; title: string; isNewTable: boolean }
}
