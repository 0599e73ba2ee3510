import type { Command } from 'commander';
import type { App } from '../app.ts';
import { addCatalogList, addCatalogReview } from './catalog-list.ts';
import { addCatalogPut } from './catalog-put.ts';

export const defineCatalog = (catalog: Command, app: App): void => {
  addCatalogPut(catalog, app);
  addCatalogList(catalog, app);
  addCatalogReview(catalog, app);
};
