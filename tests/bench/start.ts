import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { residentMb, startProgram } from './processes.ts'
import { environmentOf } from './product.ts'
import type { Line } from './report.ts'

const IDLE_MS = 3_000

/** A start on an empty folder up to the first page, and the memory of the server that then does nothing. */
export async function measureStart(): Promise<Line[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-start-'))
  const startedAt = performance.now()
  const server = await startProgram('src/main.ts', environmentOf(dataDir))
  await (await fetch(`http://127.0.0.1:${server.port}/`)).text()
  const startMs = performance.now() - startedAt
  await Bun.sleep(IDLE_MS)
  const memoryMb = residentMb(server.pid)
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
  return [
    {
      work: 'first start to first page',
      result: `${startMs.toFixed(0)} ms`,
      promise: '< 2000 ms',
      holds: startMs < 2000,
      detail: '',
    },
    {
      work: 'memory when idle',
      result: `${memoryMb.toFixed(0)} MB`,
      promise: '< 150 MB',
      holds: memoryMb < 150,
      detail: '',
    },
  ]
}
