import { QueryClient } from '@tanstack/react-query'
import { createTRPCClient, httpBatchLink, httpLink, splitLink, type TRPCLink } from '@trpc/client'
import { createTRPCQueryUtils, createTRPCReact } from '@trpc/react-query'
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import { observable } from '@trpc/server/observable'
import { goesAlone } from '../src/core/calls-alone.ts'
import type { AppRouter } from '../src/router.ts'
import { appCodeOf, isWorthRetrying } from './errors.ts'
import { fetchAnswer } from './fetch-answer.ts'
import { callerHeaders, recoverFrom401 } from './session/index.ts'

export type Inputs = inferRouterInputs<AppRouter>
export type Outputs = inferRouterOutputs<AppRouter>

/** Hooks: `trpc.bases.list.useQuery()`, `trpc.bases.create.useMutation()`. */
export const trpc = createTRPCReact<AppRouter>()

/** Metadata of a call besides its input: `api.x.y.mutate(input, inAction(id))`. */
export const inAction = (actionId: string | undefined) => ({ context: { actionId } })

/** Calls with the same `actionId` form one user action: undo reverts all of them. */
const actionHeaders = async ({ op }: { op: { context: Record<string, unknown> } }) => {
  const { actionId } = op.context
  return { ...(await callerHeaders()), ...(typeof actionId === 'string' && { 'x-action-id': actionId }) }
}

/**
 * On a 401 renews the token and sends the request again, once. If the renewal is refused, the request waits until the
 * person has signed in again, so that no input is lost.
 */
const sessionLink: TRPCLink<AppRouter> = () => {
  return ({ op, next }) =>
    observable((observer) => {
      let current = next(op).subscribe({
        next: (value) => observer.next(value),
        complete: () => observer.complete(),
        error(error) {
          const isOwnBusiness = op.path.startsWith('auth.') && op.path !== 'auth.me'
          if (error.data?.httpStatus !== 401 || isOwnBusiness) return observer.error(error)
          recoverFrom401().then(
            (goOn) => {
              if (!goOn) return observer.error(error)
              current = next(op).subscribe(observer)
            },
            // The refresh failed offline: rethrow the original 401.
            () => observer.error(error),
          )
        },
      })
      return () => current.unsubscribe()
    })
}

/** Sign-in sets a cookie, and a page of records must not wait for a slow count in the same batch. */
const isSentAlone = ({ path, type }: { path: string; type: string }): boolean =>
  type === 'mutation' || goesAlone(path)

/** Longest address; servers and proxies refuse those of 8 KB and more. */
const MAX_URL_LENGTH = 6000

/** Longest encoded input in an address, beside the path of the call. */
const MAX_INPUT_IN_URL = MAX_URL_LENGTH - 1000

/** True for a query whose input does not fit into an address, such as a filter or the options of a field. */
const isLong = ({ type, input }: { type: string; input: unknown }): boolean =>
  type === 'query' && encodeURIComponent(JSON.stringify(input ?? '')).length > MAX_INPUT_IN_URL

const server = { url: '/trpc', fetch: fetchAnswer }

const links = () => [
  sessionLink,
  splitLink({
    condition: isLong,
    true: httpLink<AppRouter>({ ...server, headers: actionHeaders, methodOverride: 'POST' }),
    false: splitLink({
      condition: isSentAlone,
      true: httpLink<AppRouter>({ ...server, headers: actionHeaders }),
      false: httpBatchLink<AppRouter>({ ...server, headers: callerHeaders, maxURLLength: MAX_URL_LENGTH }),
    }),
  }),
]

/** The client without hooks, for actions and stores: `await api.bases.list.query()`. */
export const api = createTRPCClient<AppRouter>({ links: links() })

/** The client for the provider in main.tsx. */
export const trpcReactClient = trpc.createClient({ links: links() })

/** The cache of all queries. Sockets and actions keep it fresh, so reading again on focus is left out. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < 2 && isWorthRetrying(error),
    },
    mutations: { retry: false },
  },
})

/** The cache by procedure, outside components: `cache.bases.list.invalidate()`. */
export const cache = createTRPCQueryUtils({ client: trpcReactClient, queryClient })

/** True if the resource does not exist, or not for this person. */
export const isMissing = (error: unknown): boolean => {
  const code = appCodeOf(error)
  return code !== null && (code.endsWith('NOT_FOUND') || code === 'FORBIDDEN' || code === 'PERMISSION_DENIED')
}
