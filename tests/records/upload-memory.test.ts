import { expect, test } from 'bun:test'
import { join } from 'node:path'

const MEGABYTE = 1024 ** 2

test('a large file is counted while it arrives, without a length and without memory for it', async () => {
  const run = Bun.spawn([process.execPath, join(import.meta.dir, 'upload-memory.ts')], { stdout: 'pipe' })
  const printed = await new Response(run.stdout).text()
  const { files, sent, grown } = JSON.parse(printed.trim().split('\n').at(-1) ?? '')
  expect(files).toEqual([expect.objectContaining({ title: 'a.txt', size: sent })])
  // Bytes that were taken in count too until they are collected.
  expect(grown).toBeLessThan(sent / MEGABYTE / 2)
})
