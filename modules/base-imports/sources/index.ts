import * as z from 'zod/mini'
import type { BaseSourceKind } from '../../../src/core/base-imports.ts'
import type { SourceConnection, SourceContext } from '../source.ts'
import { airtableCredentials, openAirtable } from './airtable.ts'
import { airtableLinkCredentials, openAirtableLink } from './airtable-link.ts'
import { baserowCredentials, openBaserow } from './baserow.ts'
import { baserowExportCredentials, openBaserowExport } from './baserow-export.ts'
import { gristCredentials, openGrist } from './grist.ts'
import { nocodbCredentials, openNocodb } from './nocodb.ts'
import { openTeable, teableCredentials } from './teable.ts'

interface SourceDefinition<Credentials> {
  /** What its users enter to connect. */
  credentials: z.ZodMiniType<Credentials>
  open(credentials: Credentials, context: SourceContext): SourceConnection
}

const defineSource = <Credentials>(definition: SourceDefinition<Credentials>) => ({
  credentials: definition.credentials,
  /** @throws ZodError for credentials of another form */
  open: (credentials: unknown, context: SourceContext): SourceConnection =>
    definition.open(definition.credentials.parse(credentials), context),
})

/** The products that bases can be imported from. */
export const SOURCES: Record<BaseSourceKind, ReturnType<typeof defineSource>> = {
  airtable: defineSource({ credentials: airtableCredentials, open: openAirtable }),
  'airtable-link': defineSource({ credentials: airtableLinkCredentials, open: openAirtableLink }),
  baserow: defineSource({ credentials: baserowCredentials, open: openBaserow }),
  'baserow-export': defineSource({ credentials: baserowExportCredentials, open: openBaserowExport }),
  grist: defineSource({ credentials: gristCredentials, open: openGrist }),
  nocodb: defineSource({ credentials: nocodbCredentials, open: openNocodb }),
  teable: defineSource({ credentials: teableCredentials, open: openTeable }),
}

/** Credentials of any source, by its kind. */
export const sourceInput = z.discriminatedUnion('source', [
  z.strictObject({ source: z.literal('airtable'), credentials: airtableCredentials }),
  z.strictObject({ source: z.literal('airtable-link'), credentials: airtableLinkCredentials }),
  z.strictObject({ source: z.literal('baserow'), credentials: baserowCredentials }),
  z.strictObject({ source: z.literal('baserow-export'), credentials: baserowExportCredentials }),
  z.strictObject({ source: z.literal('grist'), credentials: gristCredentials }),
  z.strictObject({ source: z.literal('nocodb'), credentials: nocodbCredentials }),
  z.strictObject({ source: z.literal('teable'), credentials: teableCredentials }),
])
export type SourceInput = z.output<typeof sourceInput>
