import { RequestMethod } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { HTTP_CODE_METADATA, METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ACCESS, type Access } from '../access/access.js';
import { BODY, type DeclaredBody } from '../body/json-body.js';
import { isPartOfApi } from '../route-table.js';
import { OPERATION, SECTION, type OperationSpec } from './operation.js';

/** A route as its decorators define it. */
export interface Route {
  /** With parameters in OpenAPI's notation: `/messages/{id}`. */
  readonly path: string;
  /** In lower case. */
  readonly method: string;
  /** Of the successful response. */
  readonly status: number;
  readonly section: string;
  readonly access: Access;
  readonly body: DeclaredBody | undefined;
  readonly spec: OperationSpec;
}

/**
 * @returns a check whether a request target is certain to belong to a route without parameters that needs an API key
 */
export function keyedRoutes(routes: readonly Route[]): (target: string, method: string) => boolean {
  const keyed = routes.filter(({ access }) => access !== 'public' && access !== 'operator');
  const names = new Set(keyed.map(({ method, path }) => `${method.toUpperCase()} ${path}`));
  return (target, method) => names.has(`${method} ${target}`);
}

type Controller = new (...args: never[]) => object;

/**
 * The routes of all controllers.
 * @throws Error for a route without a description
 */
export function allRoutes(discovery: DiscoveryService): Route[] {
  return discovery
    .getControllers()
    .flatMap(({ metatype }) => (typeof metatype === 'function' ? routesOf(metatype as Controller) : []));
}

function routesOf(controller: Controller): Route[] {
  const prototype = controller.prototype as Record<string, object>;
  return Object.getOwnPropertyNames(prototype).flatMap((name) => {
    const handler = prototype[name] ?? {};
    const verb = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
    if (verb === undefined) return [];
    const parts = [controller, handler].map((target) => Reflect.getMetadata(PATH_METADATA, target) as string);
    const path = `/${parts.join('/').split('/').filter(Boolean).join('/')}`;
    if (!isPartOfApi(path)) return [];
    const spec = Reflect.getMetadata(OPERATION, handler) as OperationSpec | undefined;
    const section = Reflect.getMetadata(SECTION, controller) as string | undefined;
    if (spec === undefined || section === undefined) {
      throw new Error(`${controller.name}.${name} needs @Operation, and its class @Section.`);
    }
    const status = Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined;
    const access = [handler, controller].map((target) => Reflect.getMetadata(ACCESS, target) as Access | undefined);
    return {
      path: path.replace(/:(\w+)/g, '{$1}'),
      method: RequestMethod[verb].toLowerCase(),
      status: status ?? (verb === RequestMethod.POST ? 201 : 200),
      access: access[0] ?? access[1] ?? 'caller',
      body: Reflect.getMetadata(BODY, prototype, name) as DeclaredBody | undefined,
      section,
      spec,
    };
  });
}
