import type { Page } from 'playwright-core'

/** A request of a page: its path with query, and the bytes of its response, headers included, as they were sent. */
export interface LoadRequest {
  path: string
  bytes: number
}

/** What a page has loaded from a cold cache. */
export interface Load {
  requests: LoadRequest[]
  kb: number
}

/** How a page's requests are answered. */
export interface LoadConditions {
  /** Content encodings that the browser accepts; absent: its own. */
  encodings?: ('gzip' | 'br')[]
  /** The network between browser and server; absent: none. */
  network?: { latencyMs: number; megabitPerSecond: number }
}

/**
 * Records the requests of a page that has not been opened yet. What it returns gives those so far; with `last`, part of
 * a path, those sent before the response to that request had arrived.
 */
export async function recordLoad(page: Page, { encodings, network }: LoadConditions = {}) {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Network.enable')
  if (encodings) {
    await cdp.send('Network.setExtraHTTPHeaders', { headers: { 'accept-encoding': encodings.join(', ') } })
  }
  if (network) {
    const throughput = (network.megabitPerSecond * 1e6) / 8
    await cdp.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: network.latencyMs,
      downloadThroughput: throughput,
      uploadThroughput: throughput,
    })
  }
  const requests = new Map<string, LoadRequest & { sentAt: number; endedAt: number }>()
  cdp.on('Network.requestWillBeSent', ({ requestId, request, timestamp }) => {
    const { protocol, pathname, search } = new URL(request.url)
    if (protocol === 'data:' || protocol === 'blob:') return
    requests.set(requestId, { path: pathname + search, bytes: 0, sentAt: timestamp, endedAt: Infinity })
  })
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength, timestamp }) => {
    const request = requests.get(requestId)
    if (request) Object.assign(request, { bytes: encodedDataLength, endedAt: timestamp })
  })
  return (last?: string): Load => {
    const all = [...requests.values()]
    const end =
      last === undefined ? null : all.find(({ path, endedAt }) => path.includes(last) && endedAt < Infinity)
    if (end === undefined) throw new Error(`No response to ${last}`)
    const needed = all.filter(({ sentAt }) => sentAt <= (end?.endedAt ?? Infinity))
    return {
      requests: needed.map(({ path, bytes }) => ({ path, bytes })),
      kb: needed.reduce((sum, { bytes }) => sum + bytes, 0) / 1024,
    }
  }
}
