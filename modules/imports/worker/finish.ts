import type { CreatedRecords, ImportPlan } from '../plan.ts'
import { keepRowRecords } from '../row-records.ts'
import { append, type Finished } from './append.ts'
import type { ImportTools } from './fill.ts'
import { update } from './update.ts'

type Counted = Finished & { created: CreatedRecords[] }

interface FinishingTools extends ImportTools {
  /** Called with what has been counted before it is committed, and before a new table is published. */
  onCounted(counted: Counted): void
}

/** Completes a filled staging table; see `ImportFinish`. A preview is rolled back. */
export async function finish(
  plan: ImportPlan,
  staged: number,
  { writer, onCounted, ...tools }: FinishingTools,
): Promise<Counted> {
  const { finish: how } = plan
  const { report, converter, mainThread } = tools
  const { cellsRefused } = converter
  const forgetRefused = report.mark()
  return writer.repeat(() => mainThread.withLease(attempt), mainThread.signal)

  async function attempt(): Promise<Counted> {
    forgetRefused()
    converter.cellsRefused = cellsRefused
    const finished = await writer
      .write(async (tx) => {
        const created: CreatedRecords[] = []
        if (how.kind === 'append') {
          const write = how.update ? update : append
          const counted = await write(plan, how, { tx, dialect: writer.dialect, created, ...tools })
          const firstId = how.update ? undefined : (counted.firstId ?? 0)
          await keepRowRecords(plan, firstId, { tx, dialect: writer.dialect })
          if (how.isPreview) throw new Previewed({ ...counted, created })
          onCounted({ ...counted, created })
          return { ...counted, created }
        }
        const indexes = how.kind === 'index' ? writer.dialect.createIndex(plan.staging, how.columns) : []
        for (const statement of indexes) await tx.run(statement)
        const counted = { rows: staged, rowsRefused: 0, changeId: null, created }
        onCounted(counted)
        return counted
      })
      .catch((error) => {
        if (error instanceof Previewed) return error.counted
        throw error
      })
    // Under the lease: otherwise the next writer on the main thread would do it.
    writer.checkpoint()
    return finished
  }
}

/** Rolls a preview back: what it would do is counted. */
class Previewed extends Error {
  constructor(readonly counted: Counted) {
    super('The import is only previewed')
    for (const each of counted.created) each.changeId = null
  }
}
