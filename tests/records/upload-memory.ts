/*
 * Sends a large file to a server of its own and prints by how many megabytes the process grew meanwhile, with
 * the answer. A process of its own, because what thousands of tests have left behind would count as well.
 */
import { createTestApp } from '../support/app.ts'

const MEGABYTE = 1024 ** 2
const PIECES = 600

const app = await createTestApp({ database: 'sqlite', config: { attachmentMaxBytes: 700 * MEGABYTE } })
const { token } = await app.signUp()
const piece = Buffer.alloc(MEGABYTE, 'y')
const before = process.memoryUsage.rss()
let highest = before
let sent = 0
// Sender and server are one process here: it makes a piece only when the last one is on its way.
const body = new ReadableStream({
  async pull(controller) {
    if (sent === 0) {
      controller.enqueue('--x\r\ncontent-disposition: form-data; name="f"; filename="a.txt"\r\n\r\n')
    }
    controller.enqueue(piece)
    await Bun.sleep(1)
    highest = Math.max(highest, process.memoryUsage.rss())
    if (++sent < PIECES) return
    controller.enqueue('\r\n--x--\r\n')
    controller.close()
  },
})
const headers = { 'xc-auth': token, 'content-type': 'multipart/form-data; boundary=x' }
const answer = await fetch(`${app.url}/api/v2/storage/upload`, { method: 'POST', headers, body })
const files = await answer.json()
console.log(JSON.stringify({ files, sent: PIECES * MEGABYTE, grown: (highest - before) / MEGABYTE }))
await app.stop()
process.exit(0)
