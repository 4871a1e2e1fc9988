import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { parseJsonText } from '../../../src/core/json-text.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { PluginsService } from '../service.ts'
import { hasWebhooks, pluginIdOf, presentPlugin } from './present.ts'

const PREFIXES = ['/api/v1/db/meta/plugins', '/api/v2/meta/plugins']
const TAGS = ['Plugins']

/** Configurations are JSON in a text. */
const input = z.string().max(512 * 1024)
const PatchBody = z.object({
  active: z.union([z.boolean(), z.literal(0), z.literal(1)]).optional(),
  input: input.nullish(),
})
const TestBody = z.object({
  title: z.string().max(255),
  input: z.union([input, z.record(z.string(), z.json()), z.array(z.json()).max(1_000)]),
  category: z.string().max(255),
})

interface Services {
  plugins: PluginsService
  auth: AuthService
}

/** Plugins over REST (wire §12). Secrets are masked in answers, and kept where a request leaves them masked. */
export function pluginsRest(kernel: Kernel, services: Services) {
  const app = new Elysia()
  for (const prefix of PREFIXES) app.use(routes(prefix, kernel, services))
  return app
}

function routes(prefix: string, kernel: Kernel, { plugins, auth }: Services) {
  return new Elysia({ prefix, tags: TAGS })
    .use(restBase(kernel, auth))
    .get('/', async ({ actor }) => ({ list: (await plugins.list(actor)).map(presentPlugin) }), {
      detail: { summary: 'List the plugins' },
    })
    .get(
      '/webhook',
      async ({ actor }) => ({ list: (await plugins.list(actor)).filter(hasWebhooks).map(presentPlugin) }),
      { detail: { summary: 'List the plugins that webhooks post to' } },
    )
    .get(
      '/:pluginId/status',
      async ({ actor, params }) => scalar(await plugins.isActive(actor, pluginIdOf(params.pluginId))),
      { detail: { summary: 'Tell whether a plugin is in use, by its id or title' } },
    )
    .get(
      '/:pluginId',
      async ({ actor, params }) => {
        const plugin = await plugins.find(actor, params.pluginId)
        // Clients expect an empty answer for an unknown plugin.
        return plugin ? presentPlugin(plugin) : new Response(null)
      },
      { detail: { summary: 'Read a plugin' } },
    )
    .patch(
      '/:pluginId',
      async ({ actor, params, body, request }) => {
        await auth.access.authorize(actor, 'plugin.update')
        const patch = readBody(PatchBody, body)
        return presentPlugin(await update(actor, params.pluginId, patch, auth.siteUrl(request)))
      },
      { detail: { summary: 'Configure a plugin, or take it out of use' } },
    )
    .post(
      '/test',
      async ({ actor, body, request }) => {
        await auth.access.authorize(actor, 'plugin.update')
        const { title, input: given } = readBody(TestBody, body)
        const config = typeof given === 'string' ? parseInput(given) : given
        const siteUrl = auth.siteUrl(request)
        const { problem } = await plugins.test(actor, pluginIdOf(title), config, { siteUrl })
        if (problem !== null) throw badRequest(m.plugins_error_test({ title, reason: problem }))
        return scalar(true)
      },
      { detail: { summary: 'Try the configuration of a plugin without storing it' } },
    )

  function update(
    actor: Actor,
    id: string,
    { active, input: given }: z.output<typeof PatchBody>,
    siteUrl: string,
  ) {
    const isActive = active === undefined ? typeof given === 'string' : Boolean(active)
    if (!isActive) return plugins.deactivate(actor, id, { keepConfig: given !== null })
    if (typeof given !== 'string') return plugins.reactivate(actor, id, siteUrl)
    return plugins.save(actor, id, parseInput(given), siteUrl)
  }
}

/** @throws BAD_REQUEST for text that is not JSON */
function parseInput(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(error.message)
    throw error
  }
}
