import { en } from 'zod/locales'
import { config } from 'zod/mini'

// `zod/mini` contains no messages. Only the field editor shows them, for invalid options (`problemOf`).
config(en())
