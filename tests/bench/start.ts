import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { residentMb, startProgram } from './processes.ts'
import { environmentOf } from './product.ts'
import type { Line } from './report.ts'

const WEB = join(import.meta.dir, '..', '..', 'dist', 'web')
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

/** What a browser loads before it shows the grid, gzipped: the page, what it links, and the screens of a table. */
export function measureWeb(): Line[] {
  if (!existsSync(join(WEB, 'index.html'))) {
    return [
      {
        work: 'first load of the grid',
        result: 'not built',
        promise: '≤ 700 KB',
        holds: null,
        detail: 'bun scripts/build-web.ts',
      },
    ]
  }
  const assets = readdirSync(join(WEB, 'assets'))
  const html = readFileSync(join(WEB, 'index.html'), 'utf8')
  const linked = [...html.matchAll(/(?:href|src)="\/assets\/([^"]+)"/g)].map((match) => match[1] ?? '')
  const screens = assets.filter((name) => /^(shell|table-screen)-\w+\.(js|css)$/.test(name))
  const wanted = new Set<string>()
  const add = (name: string) => {
    if (wanted.has(name) || !assets.includes(name)) return
    wanted.add(name)
    if (!name.endsWith('.js')) return
    const text = readFileSync(join(WEB, 'assets', name), 'utf8')
    for (const match of text.matchAll(/(?:from|import)\s*["']\.\/([^"']+)["']/g)) add(match[1] ?? '')
  }
  for (const name of [...linked, ...screens]) add(name)
  const size = (name: string) => Bun.gzipSync(readFileSync(join(WEB, 'assets', name))).byteLength
  const total =
    [...wanted].reduce((sum, name) => sum + size(name), Bun.gzipSync(Buffer.from(html)).byteLength) / 1024
  const detail = `${wanted.size + 1} files`
  return [
    {
      work: 'first load of the grid, gzipped',
      result: `${total.toFixed(0)} KB`,
      promise: '≤ 700 KB',
      holds: total <= 700,
      detail,
    },
  ]
}
