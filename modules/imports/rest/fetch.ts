import { Elysia } from 'elysia'
import { z } from 'zod'
import { createHttpClient } from '../../../src/http.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { readBody, restBase } from '../../../src/rest.ts'
import type { AuthService } from '../../auth/index.ts'

const PATHS = ['/api/v1/db/meta/axiosRequestMake', '/api/v2/meta/axiosRequestMake']

/** Files that clients import; of everything else they are given nothing. */
const DATA_FILE = /\.(csv|json|xls|xlsx|xlsm|ods|ots)$/i
/** It is answered as JSON, a number for each byte: larger files go by `imports.fetchUrl`. */
const MAX_BYTES = 10 * 1024 ** 2
const TIMEOUT_MS = 60_000

const FetchBody = z.object({ apiMeta: z.object({ url: z.string().max(4096) }) })

/** Gets a data file from another server for clients that read it themselves (wire §3). Signed-in people only. */
export const fetchRest = (kernel: Kernel, auth: Pick<AuthService, 'access' | 'authenticate'>) => {
  const http = createHttpClient(kernel.config)
  const app = new Elysia().use(restBase(kernel, auth))
  for (const path of PATHS) {
    app.post(path, async ({ actor, body, request }) => {
      await auth.access.authorize(actor, 'account.read')
      const { url } = readBody(FetchBody, body).apiMeta
      if (!URL.canParse(url) || !DATA_FILE.test(new URL(url).pathname)) return {}
      const limits = { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, signal: request.signal }
      const answer = await http.get(url, limits)
      return Buffer.concat(await Array.fromAsync(answer.body)).toJSON()
    })
  }
  return app
}
