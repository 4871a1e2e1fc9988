import { setClockOffset } from '../../src/clock.ts'
import { AppError } from '../../src/core/errors.ts'
import { FileError } from '../../src/core/imports/file-error.ts'
import { openBulkWriter } from '../../src/db/open-bulk-writer.ts'
import { lowerThreadPriority } from '../../src/db/priority.ts'
import { type ImportOutcome, type ImportPlan, isUpdate } from './plan.ts'
import { readerOf } from './readers/index.ts'
import { connectMainThread, type FromWorker, type ToWorker } from './thread.ts'
import { createConverter } from './worker/convert.ts'
import { writeCounts } from './worker/counts.ts'
import { fill } from './worker/fill.ts'
import { finish } from './worker/finish.ts'
import { createReport } from './worker/report.ts'

/*
 * Thread of one import at a time: reads the file, fills the staging table and finishes it. A thread of its own, so that
 * reads in the worker pool never wait for it.
 */

declare const self: Worker

const send = (message: FromWorker): void => self.postMessage(message)
/** That of the present import. */
let mainThread = connectMainThread(send)

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  if (data.type !== 'start') return mainThread.receive(data)
  mainThread = connectMainThread(send)
  setClockOffset(data.clockOffsetMs)
  try {
    send({ type: 'done', outcome: await runImport(data.plan) })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    const message = error instanceof Error ? error.message : String(error)
    send({ type: 'failed', message, code, refusal: refusalOf(error) })
  }
}

function refusalOf(error: unknown): Extract<FromWorker, { type: 'failed' }>['refusal'] {
  if (error instanceof AppError) return { code: error.code, details: error.details }
  return error instanceof FileError ? {} : null
}

async function runImport(plan: ImportPlan): Promise<ImportOutcome> {
  // Jobs that a version without other formats has left name no kind.
  const table = await readerOf(plan.format.kind ?? 'csv').open(plan.path, plan.format, (isBlocked) =>
    send({ type: 'blocked', isBlocked }),
  )
  await mainThread.yieldNow()
  const report = createReport(plan.reportPath)
  lowerThreadPriority()
  const writer = openBulkWriter(plan.location, {
    refusedBy: (indexes) => send({ type: 'refused', indexes }),
  })
  try {
    const converter = createConverter(
      plan.columns,
      {
        width: plan.width,
        timeZone: plan.timeZone,
        decimal: plan.format.decimal,
        isJson: plan.format.kind === 'json',
        checksRequired: !isUpdate(plan),
      },
      report,
    )
    const filled = await fill(plan, table, { writer, converter, report, mainThread })
    const outcomeOf = (finished: Awaited<ReturnType<typeof finish>>): ImportOutcome => ({
      rows: finished.rows,
      rowsRefused: filled.rowsRefused + finished.rowsRefused,
      cellsRefused: converter.cellsRefused,
      problems: report.count,
      samples: report.samples,
      encoding: table.encoding,
      choices: converter.choices(),
      changeId: finished.changeId,
      created: finished.created,
      update: finished.update,
      links: finished.links,
    })
    const finished = await finish(plan, filled.rows, {
      writer,
      converter,
      report,
      mainThread,
      onCounted: (counted) => {
        if (plan.countsPath === undefined) return
        report.flush()
        writeCounts(plan.countsPath, outcomeOf(counted))
      },
    })
    return outcomeOf(finished)
  } finally {
    report.close()
    await writer.close()
  }
}
