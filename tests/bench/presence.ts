import { io, type Socket } from 'socket.io-client'
import { createTrpcClient } from '../support/client.ts'
import { cpuSeconds } from './processes.ts'
import type { Product } from './product.ts'
import type { Line } from './report.ts'

const CONNECTIONS = 300
const SECONDS = 10
/** Share of a core that the connections may use while each moves once a second. */
const MAX_SHARE = 0.1
const MAX_EDIT_MS = 150

/** The processor time of people who move in one table, all of whom look at it, and how soon they hear of an edit. */
export async function measurePresence(product: Product): Promise<Line[]> {
  const url = `http://127.0.0.1:${product.port}`
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(url, product)))
  let received = 0
  for (const socket of sockets) socket.on('presence', () => received++)
  let step = 0
  // Spread over the second, as people are.
  const timers = sockets.map((socket, at) =>
    setTimeout(
      () => {
        const move = () => report(socket, product, 1 + ((at + step++) % 1000))
        timers[at] = setInterval(move, 1000)
      },
      (at * 1000) / CONNECTIONS,
    ),
  )
  await Bun.sleep(3000)
  const cpuBefore = cpuSeconds(product.pid)
  const receivedBefore = received
  await Bun.sleep(SECONDS * 1000)
  const share = (cpuSeconds(product.pid) - cpuBefore) / SECONDS
  const messages = Math.round((received - receivedBefore) / SECONDS)
  const editMs = await timeEdits(product, sockets[0]!)
  for (const timer of timers) clearTimeout(timer)
  for (const socket of sockets) socket.close()
  return [
    {
      work: `presence: ${CONNECTIONS} people move every second`,
      result: `${(share * 100).toFixed(1)} % of a core`,
      promise: `< ${MAX_SHARE * 100} %`,
      holds: share < MAX_SHARE,
      detail: `${messages} messages/s to all of them`,
    },
    {
      work: 'presence: an edit reaches another browser meanwhile',
      result: `${editMs.toFixed(0)} ms, slowest of 20`,
      promise: `< ${MAX_EDIT_MS} ms`,
      holds: editMs < MAX_EDIT_MS,
      detail: 'from the call to the message on the socket',
    },
  ]
}

async function open(url: string, { session, baseId, ...product }: Product): Promise<Socket> {
  const socket = io(url, { auth: { token: session }, transports: ['websocket'], forceNew: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve())
    socket.once('connect_error', reject)
  })
  await socket.emitWithAck('base:join', baseId, 0)
  report(socket, { baseId, ...product }, 1)
  return socket
}

function report(
  socket: Socket,
  { baseId, tableId }: Pick<Product, 'baseId' | 'tableId'>,
  recordId: number,
): void {
  const position = { tableId, viewId: 'vwGrid', recordId, fieldId: 'cTitle', isEditing: false }
  socket.emit('presence', { baseId, isHidden: false, ...position })
}

async function timeEdits({ port, session, baseId, tableId }: Product, socket: Socket): Promise<number> {
  const trpc = createTrpcClient(`http://127.0.0.1:${port}`, session)
  let slowest = 0
  for (let count = 0; count < 20; count++) {
    const startedAt = performance.now()
    const heard = new Promise((resolve) => socket.once('change', resolve))
    const rows = [{ values: {} }]
    await trpc.records.write.mutate({ change: { baseId, operations: [{ kind: 'insert', tableId, rows }] } })
    await heard
    slowest = Math.max(slowest, performance.now() - startedAt)
  }
  return slowest
}
