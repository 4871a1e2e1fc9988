import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTrpcClient, type TrpcClient } from '../support/client.ts'
import { cpuSeconds, residentMb } from './processes.ts'
import { startProduct } from './product.ts'
import type { Line } from './report.ts'

/** A million records in a minute. */
const MAX_SECONDS_PER_MILLION = 60
/** Whatever the number of records. */
const MAX_GROWTH_MB = 250
const SAMPLE_MS = 50

interface Run {
  seconds: number
  /** Processor time of the server. */
  cpu: number
  grownMb: number
}

/** The whole base written into one file, and opened again as another base: their time, and how much the server grows. */
export async function measureBaseFiles(rows: number): Promise<Line[]> {
  const product = await startProduct(rows)
  const url = `http://127.0.0.1:${product.port}`
  const trpc = createTrpcClient(url, product.session)
  const folder = mkdtempSync(join(tmpdir(), 'sheaf-bench-file-'))
  const path = join(folder, 'bench.sheaf')
  try {
    let link = ''
    const written = await observed(product.pid, async () => {
      const { jobId } = await trpc.baseFiles.export.mutate({ baseId: product.baseId })
      link = ((await resultOf(trpc, jobId)) as { url: string }).url
    })
    await Bun.write(path, await fetch(`${url}/${link}`))
    const megabytes = statSync(path).size / 1e6
    let opened = { tables: 0, rows: 0 }
    const read = await observed(product.pid, async () => {
      const answer = await fetch(`${url}/api/internal/uploads?name=bench.sheaf`, {
        method: 'POST',
        headers: { 'xc-auth': product.session, 'content-type': 'application/octet-stream' },
        body: Bun.file(path),
      })
      if (!answer.ok) throw new Error(`upload: ${answer.status} ${await answer.text()}`)
      const { uploadId } = (await answer.json()) as { uploadId: string }
      const { jobId } = await trpc.baseFiles.import.mutate({ uploadId })
      opened = (await resultOf(trpc, jobId)) as typeof opened
    })
    if (opened.rows < rows) throw new Error(`The file has ${opened.rows} of ${rows} records`)
    return [
      ...linesOf(`base file of ${rows.toLocaleString('en')} records, written`, written, rows, megabytes),
      ...linesOf(`base file of ${rows.toLocaleString('en')} records, opened`, read, rows, megabytes),
    ]
  } finally {
    await product.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function linesOf(work: string, { seconds, cpu, grownMb }: Run, rows: number, megabytes: number): Line[] {
  const maxSeconds = (MAX_SECONDS_PER_MILLION * rows) / 1e6
  return [
    {
      work,
      result: `${seconds.toFixed(1)} s`,
      promise: `< ${maxSeconds.toFixed(0)} s`,
      holds: seconds < maxSeconds,
      detail: `${cpu.toFixed(1)} s of processor time, ${megabytes.toFixed(0)} MB`,
    },
    {
      work: `${work}: memory`,
      result: `+${grownMb.toFixed(0)} MB`,
      promise: `< ${MAX_GROWTH_MB} MB`,
      holds: grownMb < MAX_GROWTH_MB,
      detail: '',
    },
  ]
}

async function observed(pid: number, work: () => Promise<void>): Promise<Run> {
  const [memory, cpu, startedAt] = [residentMb(pid), cpuSeconds(pid), performance.now()]
  let peak = memory
  const sampler = setInterval(() => {
    peak = Math.max(peak, residentMb(pid))
  }, SAMPLE_MS)
  try {
    await work()
  } finally {
    clearInterval(sampler)
  }
  return {
    seconds: (performance.now() - startedAt) / 1000,
    cpu: cpuSeconds(pid) - cpu,
    grownMb: peak - memory,
  }
}

async function resultOf(trpc: TrpcClient, jobId: string): Promise<unknown> {
  for (;;) {
    const job = await trpc.jobs.get.query({ jobId })
    if (job.status === 'completed') return job.result
    if (job.status !== 'waiting' && job.status !== 'active') throw new Error(job.error ?? job.status)
    await Bun.sleep(50)
  }
}
