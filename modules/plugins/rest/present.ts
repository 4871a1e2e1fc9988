import {
  findPlugin,
  PLUGINS,
  type PluginCategory,
  type PluginInput,
} from '../../../src/core/plugins/index.ts'
import { wireTime } from '../../../src/wire/lists.ts'
import type { PluginState } from '../service.ts'

/** Titles and categories that differ on the wire. Clients test a plugin by its title. */
const WIRE: Record<string, { title?: string; category?: string }> = {
  'aws-s3': { title: 'S3' },
  minio: { title: 'Minio' },
  spaces: { title: 'Spaces' },
  backblaze: { title: 'Backblaze' },
  ovh: { title: 'Ovh' },
  ses: { title: 'SES' },
  twilio: { title: 'Twilio', category: 'Twilio' },
  'twilio-whatsapp': { title: 'Whatsapp Twilio', category: 'Twilio' },
}

const CATEGORIES: Record<PluginCategory, string> = { email: 'Email', storage: 'Storage', chat: 'Chat' }

const titleOf = ({ id, title }: { id: string; title: string }): string => WIRE[id]?.title ?? title

/** The id of a plugin by its id or its title on the wire; an unknown text stays as it is. */
export const pluginIdOf = (idOrTitle: string): string =>
  PLUGINS.find((plugin) => titleOf(plugin) === idOrTitle)?.id ?? idOrTitle

/** True for services with channels, which webhooks post to by name. */
export const hasWebhooks = ({ id }: PluginState): boolean => findPlugin(id)?.isList === true

const INPUT_TYPES: Record<PluginInput['kind'], string> = {
  text: 'SingleLineText',
  secret: 'Password',
  number: 'Number',
  switch: 'Checkbox',
}

const ACTIONS = [
  { label: 'Test', placeholder: 'Test', key: 'test', actionType: 'TEST', type: 'Button' },
  { label: 'Save', placeholder: 'Save', key: 'save', actionType: 'SUBMIT', type: 'Button' },
]

/** A plugin as clients know it; the schema and the configuration are JSON in texts. */
export function presentPlugin(plugin: PluginState) {
  const definition = findPlugin(plugin.id)
  const title = titleOf(plugin)
  const schema = {
    title: `Configure ${title}`,
    ...(definition?.isList && { array: true }),
    items: definition?.inputs.map(presentInput) ?? [],
    actions: ACTIONS,
    msgOnInstall: `${title} is in use.`,
    msgOnUninstall: '',
  }
  const time = plugin.updatedAt === null ? null : wireTime(plugin.updatedAt)
  return {
    id: plugin.id,
    title,
    description: definition?.description() ?? null,
    active: plugin.isActive,
    rating: null,
    version: '0.0.1',
    docs: null,
    status: 'install',
    status_details: null,
    logo: null,
    icon: null,
    tags: CATEGORIES[plugin.category],
    category: WIRE[plugin.id]?.category ?? CATEGORIES[plugin.category],
    input_schema: JSON.stringify(schema),
    input: plugin.config === null ? null : JSON.stringify(plugin.config),
    creator: null,
    creator_website: null,
    price: null,
    created_at: time,
    updated_at: time,
  }
}

function presentInput({ key, label, kind, isRequired = false, placeholder, help }: PluginInput) {
  return {
    key,
    label: label(),
    placeholder: placeholder ?? label(),
    type: INPUT_TYPES[kind],
    required: isRequired,
    ...(help && { help_text: help() }),
  }
}
