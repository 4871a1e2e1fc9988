import type { ImportPlan } from '../plan.ts'
import { append, type Finished } from './append.ts'
import type { ImportTools } from './fill.ts'
import { update } from './update.ts'

/** Completes a filled staging table; see `ImportFinish`. */
export async function finish(
  plan: ImportPlan,
  staged: number,
  { writer, ...tools }: ImportTools,
): Promise<Finished> {
  const { finish: how } = plan
  return tools.mainThread.withLease(async () => {
    const finished = await writer.write(async (tx) => {
      if (how.kind === 'append') {
        const write = how.update ? update : append
        return write(plan, how, { tx, dialect: writer.dialect, ...tools })
      }
      const indexes = how.kind === 'index' ? writer.dialect.createIndex(plan.staging, how.columns) : []
      for (const statement of indexes) await tx.run(statement)
      return { rows: staged, rowsRefused: 0, changeId: null }
    })
    // Under the lease: otherwise the next writer on the main thread would do it.
    writer.checkpoint()
    return finished
  })
}
